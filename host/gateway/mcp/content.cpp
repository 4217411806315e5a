#include "host/gateway/mcp/content.hpp"

#include <optional>

#include "core/util/json_out.hpp"

namespace krux::mcp {
namespace {

constexpr JsonLimits kAnswer{64 << 20, 64};

std::optional<std::string> text_part(const JsonValue& value) {
  if (!value.IsString()) return std::nullopt;
  return json_object([&](JsonWriter& out) {
    put(out, "type", "text");
    put(out, "text", view(value));
  });
}

/// An image or sound.
std::optional<std::string> bytes_part(const JsonValue& value, const char* type) {
  const auto data = find_string(value, "data"), mime_type = find_string(value, "mime_type");
  if (!data || !mime_type) return std::nullopt;
  return json_object([&](JsonWriter& out) {
    put(out, "type", type);
    put(out, "data", *data);
    put(out, "mimeType", *mime_type);
  });
}

std::optional<std::string> resource_json(const JsonValue& value) {
  const auto uri = find_string(value, "uri"), mime_type = find_string(value, "mime_type");
  const auto text = find_string(value, "text"), data = find_string(value, "data");
  if (!uri || !mime_type || text.has_value() == data.has_value()) return std::nullopt;
  return json_object([&](JsonWriter& out) {
    put(out, "uri", *uri);
    put(out, "mimeType", *mime_type);
    put(out, text ? "text" : "blob", text ? *text : *data);
  });
}

std::optional<std::string> resource_part(const JsonValue& value) {
  const auto resource = resource_json(value);
  if (!resource) return std::nullopt;
  return R"({"type":"resource","resource":)" + *resource + "}";
}

std::optional<std::string> part_of(const JsonValue& value, ContentKind kind) {
  switch (kind) {
    case ContentKind::kText:
      return text_part(value);
    case ContentKind::kImage:
    case ContentKind::kAudio:
      return bytes_part(value, to_string(kind));
    case ContentKind::kResource:
      return resource_part(value);
  }
  return std::nullopt;
}

}  // namespace

ToolContent content_of(std::string data_json, const std::vector<ContentOutput>& outputs) {
  if (outputs.empty()) return {std::move(data_json), {}};
  auto document = parse_json(data_json, "the result", kAnswer);
  ToolContent content;
  for (const auto& output : outputs) {
    const auto* value = find_member(document, output.name);
    auto part = value ? part_of(*value, output.kind) : std::nullopt;
    if (!part) continue;
    content.parts.push_back(*std::move(part));
    document.EraseMember(output.name.c_str());
  }
  content.values_json = content.parts.empty() ? std::move(data_json) : to_json(document);
  return content;
}

std::vector<std::string> resources_of(const std::string& data_json, const std::vector<ContentOutput>& outputs) {
  const auto document = parse_json(data_json, "the result", kAnswer);
  std::vector<std::string> all;
  for (const auto& output : outputs) {
    const auto* value = output.kind == ContentKind::kResource ? find_member(document, output.name) : nullptr;
    if (auto resource = value ? resource_json(*value) : std::nullopt) all.push_back(*std::move(resource));
  }
  return all;
}

}  // namespace krux::mcp
