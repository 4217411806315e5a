// Writing and reading the emulator's JSON: thin layers over RapidJSON.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>

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

// Parses without recursion and refuses text that is not UTF-8. False: `into` holds the error.
inline bool parse_json(std::string_view text, rapidjson::Document& into) {
  into.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  return !into.HasParseError();
}

inline std::string to_json(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

inline std::string to_pretty_json(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
  writer.SetIndent(' ', 2);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

inline const rapidjson::Value* member(const rapidjson::Value& object, const char* key) {
  if (!object.IsObject()) return nullptr;
  auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

inline std::string text_or(const rapidjson::Value& object, const char* key, std::string_view otherwise = "") {
  const rapidjson::Value* found = member(object, key);
  return found && found->IsString() ? std::string(found->GetString(), found->GetStringLength())
                                    : std::string(otherwise);
}

inline std::int64_t number_or(const rapidjson::Value& object, const char* key, std::int64_t otherwise = 0) {
  const rapidjson::Value* found = member(object, key);
  return found && found->IsInt64() ? found->GetInt64() : otherwise;
}

inline bool flag_or(const rapidjson::Value& object, const char* key, bool otherwise = false) {
  const rapidjson::Value* found = member(object, key);
  return found && found->IsBool() ? found->GetBool() : otherwise;
}

}  // namespace krux::test::emulator
