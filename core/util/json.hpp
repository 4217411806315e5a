// RapidJSON as this project uses it. Parsing is iterative (the recursive parser overflows the stack on deep nesting),
// checks UTF-8, and is limited in depth.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krux {

using JsonValue = rapidjson::Value;
using JsonDocument = rapidjson::Document;
using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

struct JsonLimits {
  std::size_t max_bytes = 1 << 20;
  int max_depth = 32;
};

/// Parses one JSON text, and nothing behind it but white space. Throws krux::Error InvalidInput: "`what` is not valid
/// JSON: ... at byte N". Duplicate keys and NUL characters in strings are refused.
JsonDocument parse_json(std::string_view text, std::string_view what, const JsonLimits& limits = {});

/// Whether `text` is one valid JSON object within the limits, without building a document; the reason goes to `why`.
bool is_json_object(std::string_view text, const JsonLimits& limits = {}, std::string* why = nullptr);

std::string to_json(const JsonValue& value);

/// RFC 8785 (JCS): sorted keys, shortest numbers, no white space. What content hashes are made of. Throws InvalidInput
/// for numbers that JCS cannot represent (beyond IEEE 754 double).
std::string canonical_json(const JsonValue& value);

/// `text` as a JSON string literal, quotes included.
std::string json_string(std::string_view text);

// Members, or nothing when they are missing or of another type.
const JsonValue* find_member(const JsonValue& object, std::string_view name);
std::optional<std::string_view> find_string(const JsonValue& object, std::string_view name);
std::optional<std::int64_t> find_int(const JsonValue& object, std::string_view name);
std::optional<bool> find_bool(const JsonValue& object, std::string_view name);

inline std::string_view view(const JsonValue& string_value) {
  return {string_value.GetString(), string_value.GetStringLength()};
}

}  // namespace krux
