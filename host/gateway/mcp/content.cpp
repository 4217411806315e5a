#include "host/gateway/mcp/content.hpp"

#include <string>
#include <string_view>

#include "core/capability/content_part.hpp"
#include "core/capability/cut_members.hpp"
#include "core/util/json_out.hpp"

namespace krux::mcp {
namespace {

constexpr JsonLimits kAnswer{64 << 20, 64};

std::string text_part(const JsonValue& value) {
  return json_object([&](JsonWriter& out) {
    put(out, "type", "text");
    put(out, "text", view(value));
  });
}

/// An image or sound.
std::string bytes_part(const JsonValue& value, const char* type) {
  return json_object([&](JsonWriter& out) {
    put(out, "type", type);
    put(out, "data", *find_string(value, "data"));
    put(out, "mimeType", *find_string(value, "mime_type"));
  });
}

std::string in_meta(std::string_view member) {
  return "kruxos/" + std::string(member);
}

/// What the host has left out of an answer, as "_meta".
void put_cuts(JsonWriter& out, const JsonDocument& answer, bool is_text) {
  const bool texts = is_text && find_bool(answer, cut_members::kTextsAreCut).value_or(false);
  const auto* members = find_member(answer, cut_members::kMembersLeftOut);
  if (!texts && !members) return;
  put_key(out, "_meta");
  out.StartObject();
  if (texts) put(out, in_meta(cut_members::kTextsAreCut), true);
  if (members) put_raw(out, in_meta(cut_members::kMembersLeftOut), to_json(*members));
  out.EndObject();
}

std::string resource_json(const JsonValue& value, const JsonDocument* cut_in = nullptr) {
  const auto text = find_string(value, "text");
  return json_object([&](JsonWriter& out) {
    put(out, "uri", *find_string(value, "uri"));
    put(out, "mimeType", *find_string(value, "mime_type"));
    put(out, text ? "text" : "blob", text ? *text : *find_string(value, "data"));
    if (cut_in) put_cuts(out, *cut_in, text.has_value());
  });
}

/// `value` is_content_part().
std::string part_of(const JsonValue& value, ContentKind kind) {
  switch (kind) {
    case ContentKind::kText:
      return text_part(value);
    case ContentKind::kImage:
    case ContentKind::kAudio:
      return bytes_part(value, to_string(kind));
    case ContentKind::kResource:
      break;
  }
  return R"({"type":"resource","resource":)" + resource_json(value) + "}";
}

/// The member that is that output, as its kind is made.
const JsonValue* part_in(const JsonDocument& document, const ContentOutput& output) {
  const auto* value = find_member(document, output.name);
  return value && is_content_part(*value, output.kind) ? value : nullptr;
}

}  // namespace

ToolContent content_of(std::string data_json, const std::vector<ContentOutput>& outputs) {
  if (outputs.empty()) return {std::move(data_json), {}};
  auto document = parse_json(data_json, "the result", kAnswer);
  ToolContent content;
  for (const auto& output : outputs) {
    const auto* value = part_in(document, output);
    if (!value) continue;
    content.parts.push_back(part_of(*value, output.kind));
    document.EraseMember(output.name.c_str());
  }
  content.values_json = content.parts.empty() ? std::move(data_json) : to_json(document);
  return content;
}

std::vector<std::string> resources_of(const std::string& data_json, const std::vector<ContentOutput>& outputs) {
  const auto document = parse_json(data_json, "the result", kAnswer);
  std::vector<std::string> all;
  for (const auto& output : outputs) {
    const auto* value = output.kind == ContentKind::kResource ? part_in(document, output) : nullptr;
    if (value) all.push_back(resource_json(*value, &document));
  }
  return all;
}

}  // namespace krux::mcp
