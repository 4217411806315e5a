// Writing and reading the emulator's JSON, by the helpers of core.
#pragma once

#include <rapidjson/prettywriter.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace krux::test::emulator {

// Builds one JSON text from front to back. Keys are passed with their values inside an object, values alone inside
// an array. Whoever opens a container closes it; str() is the text so far.
class JsonOut {
 public:
  JsonOut& object() { return writer_.StartObject(), *this; }
  JsonOut& object(std::string_view key) { return name(key), object(); }
  JsonOut& end_object() { return writer_.EndObject(), *this; }
  JsonOut& array() { return writer_.StartArray(), *this; }
  JsonOut& array(std::string_view key) { return name(key), array(); }
  JsonOut& end_array() { return writer_.EndArray(), *this; }

  JsonOut& value(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return *this;
  }
  JsonOut& field(std::string_view key, std::string_view text) { return name(key), value(text); }
  JsonOut& field(std::string_view key, const char* text) { return field(key, std::string_view(text)); }
  JsonOut& field(std::string_view key, bool flag) { return name(key), writer_.Bool(flag), *this; }
  JsonOut& field(std::string_view key, std::int64_t number) { return name(key), writer_.Int64(number), *this; }
  JsonOut& field(std::string_view key, int number) { return field(key, static_cast<std::int64_t>(number)); }
  JsonOut& field(std::string_view key, std::size_t number) { return field(key, static_cast<std::int64_t>(number)); }
  JsonOut& null_field(std::string_view key) { return name(key), writer_.Null(), *this; }
  // json is a complete JSON value, copied as it stands.
  JsonOut& raw_field(std::string_view key, std::string_view json) { return name(key), raw_value(json); }
  JsonOut& raw_value(std::string_view json) {
    writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
    return *this;
  }

  std::string str() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  void name(std::string_view key) { writer_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size())); }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

// False: it is not valid JSON, has a key twice or, of what a service is sent (kRefused), a text in it that none takes.
// How large it may be is the service's own to say.
inline bool parse_json(std::string_view text, rapidjson::Document& into, OddText odd = OddText::kKept) {
  try {
    into = krux::parse_json(text, "it", {std::numeric_limits<std::size_t>::max(), 128, odd});
    return true;
  } catch (const Error&) {
    return false;
  }
}

inline std::string to_pretty_json(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
  writer.SetIndent(' ', 2);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

inline std::string text_or(const rapidjson::Value& object, std::string_view key, std::string_view otherwise = "") {
  return std::string(find_string(object, key).value_or(otherwise));
}

inline std::int64_t number_or(const rapidjson::Value& object, std::string_view key, std::int64_t otherwise = 0) {
  return find_int(object, key).value_or(otherwise);
}

inline bool flag_or(const rapidjson::Value& object, std::string_view key, bool otherwise = false) {
  return find_bool(object, key).value_or(otherwise);
}

}  // namespace krux::test::emulator
