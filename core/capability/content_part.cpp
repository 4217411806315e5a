#include "core/capability/content_part.hpp"

#include "core/util/text.hpp"

namespace krux {
namespace {

/// What stands beside the bytes is text, of which there is little.
constexpr std::size_t kMostBesideBytes = 4'096;

bool has_bytes(const JsonValue& value) {
  const auto data = find_string(value, "data");
  return data && is_base64(*data) && to_json(value).size() - data->size() <= kMostBesideBytes;
}

bool is_resource(const JsonValue& value) {
  if (!find_string(value, "uri") || !find_string(value, "mime_type")) return false;
  return find_string(value, "text") ? !find_string(value, "data") : has_bytes(value);
}

}  // namespace

bool is_content_part(const JsonValue& value, ContentKind kind) {
  switch (kind) {
    case ContentKind::kText:
      return value.IsString();
    case ContentKind::kImage:
    case ContentKind::kAudio:
      return find_string(value, "mime_type") && has_bytes(value);
    case ContentKind::kResource:
      return is_resource(value);
  }
  return false;
}

bool is_bytes_part(const JsonValue& value, ContentKind kind) {
  return kind != ContentKind::kText && is_content_part(value, kind) && find_string(value, "data");
}

}  // namespace krux
