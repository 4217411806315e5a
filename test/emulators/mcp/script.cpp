#include "emulators/mcp/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "emulators/common/json_out.hpp"

namespace krux::test::mcp_server {
namespace {

using emulator::flag_or;
using emulator::number_or;
using emulator::text_or;

constexpr std::array<std::string_view, 19> kKinds{
    "hang",  "hang_after",  "exit",      "exit_after",  "garbage",       "flood",        "endless_line",
    "error", "wrong_id",    "no_result", "wrong_type",  "ask",           "list_changed", "say",
    "deaf",  "http_status", "reset",     "reset_after", "forget_session"};

void only(const rapidjson::Value& object, std::initializer_list<std::string_view> keys, std::string_view what) {
  if (!object.IsObject()) throw std::runtime_error(fmt::format("{} must be an object.", what));
  for (const auto& member : object.GetObject()) {
    if (std::find(keys.begin(), keys.end(), view(member.name)) == keys.end())
      throw std::runtime_error(fmt::format("{} has no key \"{}\".", what, view(member.name)));
  }
}

const rapidjson::Value* list_of(const rapidjson::Value& object, const char* name) {
  const auto at = object.FindMember(name);
  if (at == object.MemberEnd()) return nullptr;
  if (!at->value.IsArray()) throw std::runtime_error(fmt::format("\"{}\" must be an array.", name));
  return &at->value;
}

std::string json_of(const rapidjson::Value& object, const char* name, std::string otherwise = {}) {
  const auto at = object.FindMember(name);
  return at == object.MemberEnd() ? otherwise : to_json(at->value);
}

ScriptTool tool_of(const rapidjson::Value& object) {
  only(
      object,
      {"name", "description", "inputSchema", "outputSchema", "annotations", "text", "structured", "writes", "is_error"},
      "A tool");
  ScriptTool tool;
  tool.name = text_or(object, "name");
  if (tool.name.empty()) throw std::runtime_error("A tool must have a name.");
  tool.description = text_or(object, "description");
  tool.input_schema_json = json_of(object, "inputSchema", tool.input_schema_json);
  tool.output_schema_json = json_of(object, "outputSchema");
  tool.annotations_json = json_of(object, "annotations");
  tool.text = text_or(object, "text", tool.text);
  tool.structured_json = json_of(object, "structured");
  tool.writes = flag_or(object, "writes");
  tool.is_error = flag_or(object, "is_error");
  return tool;
}

Fault fault_of(const rapidjson::Value& object) {
  only(object, {"method", "tool", "kind", "skip", "count", "number", "text"}, "A fault");
  Fault fault;
  fault.method = text_or(object, "method");
  fault.tool = text_or(object, "tool");
  fault.kind = text_or(object, "kind");
  fault.skip = static_cast<int>(number_or(object, "skip"));
  fault.count = static_cast<int>(number_or(object, "count", 1));
  fault.number = number_or(object, "number");
  fault.text = text_or(object, "text");
  if (std::find(kKinds.begin(), kKinds.end(), fault.kind) == kKinds.end())
    throw std::runtime_error(fmt::format("There is no fault \"{}\": {}.", fault.kind, fmt::join(kKinds, ", ")));
  return fault;
}

Change change_of(const rapidjson::Value& object) {
  only(object, {"after_lists", "tool", "description"}, "A change");
  return {static_cast<int>(number_or(object, "after_lists")), text_or(object, "tool"), text_or(object, "description")};
}

}  // namespace

std::optional<Fault> Script::take(std::string_view method, std::string_view tool) {
  for (auto at = faults.begin(); at != faults.end(); ++at) {
    if (!at->method.empty() && at->method != method) continue;
    if (!at->tool.empty() && at->tool != tool) continue;
    if (at->skip > 0) {
      --at->skip;
      continue;
    }
    auto fault = *at;
    if (at->count > 0 && --at->count == 0) faults.erase(at);
    return fault;
  }
  return std::nullopt;
}

Script parse_script(std::string_view json) {
  rapidjson::Document document;
  if (!emulator::parse_json(json, document)) throw std::runtime_error("The script is no JSON.");
  only(document, {"tools", "faults", "changes", "page_size"}, "The script");
  Script script;
  if (const auto* all = list_of(document, "tools"))
    for (const auto& one : all->GetArray()) script.tools.push_back(tool_of(one));
  if (const auto* all = list_of(document, "faults"))
    for (const auto& one : all->GetArray()) script.faults.push_back(fault_of(one));
  if (const auto* all = list_of(document, "changes"))
    for (const auto& one : all->GetArray()) script.changes.push_back(change_of(one));
  script.page_size = static_cast<int>(number_or(document, "page_size"));
  return script;
}

}  // namespace krux::test::mcp_server
