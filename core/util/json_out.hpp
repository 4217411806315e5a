// Short forms for writing JSON answers.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {

inline void put_key(JsonWriter& out, std::string_view name) {
  out.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}

/// Made printable where it is no UTF-8, such as a file's name, or holds a NUL: an answer with either is refused whole.
inline void put_text(JsonWriter& out, std::string_view text) {
  const bool fit = is_valid_utf8(text) && text.find('\0') == std::string_view::npos;
  const auto shown = fit ? std::string() : printable(text);
  if (!fit) text = shown;
  out.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

inline void put(JsonWriter& out, std::string_view name, std::string_view value) {
  put_key(out, name);
  put_text(out, value);
}
inline void put(JsonWriter& out, std::string_view name, const char* value) {
  put(out, name, std::string_view(value));
}
inline void put(JsonWriter& out, std::string_view name, std::int64_t value) {
  put_key(out, name);
  out.Int64(value);
}
inline void put(JsonWriter& out, std::string_view name, bool value) {
  put_key(out, name);
  out.Bool(value);
}
inline void put(JsonWriter& out, std::string_view name, const std::vector<std::string>& values) {
  put_key(out, name);
  out.StartArray();
  for (const auto& value : values) put_text(out, value);
  out.EndArray();
}
/// `json` is one valid JSON value, or empty for null.
inline void put_raw(JsonWriter& out, std::string_view name, std::string_view json) {
  put_key(out, name);
  if (json.empty()) {
    out.Null();
  } else {
    out.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }
}

/// One object, filled by `fill(writer)`.
template <class Fill>
std::string json_object(Fill fill) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  fill(out);
  out.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

/// `name`: an array with one object for each item.
template <class Items, class Fill>
void put_objects(JsonWriter& out, std::string_view name, const Items& items, Fill fill) {
  put_key(out, name);
  out.StartArray();
  for (const auto& item : items) {
    out.StartObject();
    fill(item);
    out.EndObject();
  }
  out.EndArray();
}

}  // namespace krux
