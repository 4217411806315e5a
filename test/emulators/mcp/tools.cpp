#include "emulators/mcp/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace krux::test::mcp_server {
namespace {

using emulator::JsonOut;

constexpr std::string_view kReads = R"({"readOnlyHint":true})";
constexpr std::string_view kText = R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]})";

ScriptTool tool(std::string name, std::string description, std::string_view schema, std::string_view annotations) {
  ScriptTool made;
  made.name = std::move(name);
  made.description = std::move(description);
  if (!schema.empty()) made.input_schema_json = schema;
  made.annotations_json = annotations;
  return made;
}

std::vector<ScriptTool> own_tools() {
  std::vector<ScriptTool> all{
      tool("echo", "Says what it is told.", kText, kReads),
      tool("add_note", "Keeps a note.", kText, R"({"readOnlyHint":false,"destructiveHint":false})"),
      tool("list_notes", "All notes that are kept.", "", kReads),
      tool("fail", "Fails.", "", kReads),
      tool("slow", "Waits until release is called.", "", kReads),
      tool("release", "Lets all calls of slow go on.", "", kReads)};
  all[0].output_schema_json = kText;
  all[1].writes = true;
  return all;
}

void put_text(JsonOut& out, std::string_view text) {
  out.array("content").object().field("type", "text").field("text", text).end_object().end_array();
}

}  // namespace

Tools::Tools(Script& script, std::string journal) : script_(script), journal_(std::move(journal)), all_(own_tools()) {
  for (const auto& one : script.tools) {
    const auto at =
        std::find_if(all_.begin(), all_.end(), [&](const ScriptTool& other) { return other.name == one.name; });
    if (at != all_.end()) all_.erase(at);
    all_.push_back(one);
  }
}

bool Tools::has(std::string_view name) const {
  return std::any_of(all_.begin(), all_.end(), [&](const ScriptTool& one) { return one.name == name; });
}

std::string Tools::description_of(const ScriptTool& tool) const {
  const Change* latest = nullptr;
  for (const auto& change : script_.changes) {
    const bool is_due = change.tool == tool.name && lists_ >= change.after_lists;
    if (is_due && (!latest || change.after_lists > latest->after_lists)) latest = &change;
  }
  return latest ? latest->description : tool.description;
}

bool Tools::list(std::string_view cursor, JsonOut& out) {
  std::size_t from = 0;
  if (!cursor.empty()) {
    const auto* const end = cursor.data() + cursor.size();
    const auto read = std::from_chars(cursor.data(), end, from);
    if (read.ec != std::errc() || read.ptr != end || from >= all_.size()) return false;
  }
  const auto size = script_.page_size > 0 ? static_cast<std::size_t>(script_.page_size) : all_.size();
  const auto to = std::min(all_.size(), from + size);
  out.array("tools");
  for (auto i = from; i < to; ++i) {
    const auto& one = all_[i];
    out.object().field("name", one.name).field("description", description_of(one));
    out.raw_field("inputSchema", one.input_schema_json);
    if (!one.output_schema_json.empty()) out.raw_field("outputSchema", one.output_schema_json);
    if (!one.annotations_json.empty()) out.raw_field("annotations", one.annotations_json);
    out.end_object();
  }
  out.end_array();
  if (to < all_.size()) {
    out.field("nextCursor", std::to_string(to));
  } else {
    ++lists_;
  }
  return true;
}

void Tools::write(const ScriptTool& tool, const rapidjson::Value& arguments, const rapidjson::Value* meta) {
  if (journal_.empty()) return;
  JsonOut line;
  line.object().field("tool", tool.name).raw_field("arguments", to_json(arguments));
  line.raw_field("_meta", meta ? to_json(*meta) : "null").end_object();
  std::ofstream(journal_, std::ios::app) << line.str() + "\n" << std::flush;
}

void Tools::call(std::string_view name, const rapidjson::Value& arguments, const rapidjson::Value* meta, JsonOut& out) {
  const auto& called = *std::find_if(all_.begin(), all_.end(), [&](const ScriptTool& one) { return one.name == name; });
  const auto text = emulator::text_or(arguments, "text");
  if (called.writes) write(called, arguments, meta);
  if (name == "echo") {
    put_text(out, text);
    out.object("structuredContent").field("text", text).end_object();
  } else if (name == "add_note") {
    notes_.push_back(text);
    put_text(out, fmt::format("Note {} is kept.", notes_.size()));
  } else if (name == "list_notes") {
    put_text(out, fmt::format("{}", fmt::join(notes_, "\n")));
  } else if (name == "fail") {
    put_text(out, "It fails, as it should.");
  } else {
    put_text(out, called.text);
    if (!called.structured_json.empty()) out.raw_field("structuredContent", called.structured_json);
  }
  out.field("isError", name == "fail" || called.is_error);
}

}  // namespace krux::test::mcp_server
