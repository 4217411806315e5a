// RapidJSON as our adapters use it: iterative parsing (deep nesting cannot overflow the stack) to a bounded depth,
// UTF-8 checked.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace service_json {

using Json = rapidjson::Value;

/// Levels of arrays and objects that are accepted; services' answers are seldom deeper than that of a mail's parts, a
/// hundred.
inline constexpr int kDeepest = 128;

/// A document whose HasParseError() is true when `text` is not one JSON value or is nested deeper than kDeepest.
rapidjson::Document parse(std::string_view text);

const Json* member(const Json& object, std::string_view name);
/// The member's text, or `otherwise` when it is missing or of another type.
std::string_view text_of(const Json& object, std::string_view name, std::string_view otherwise = {});
std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t otherwise = 0);
bool flag_of(const Json& object, std::string_view name);

/// Builds one object, members in the order of the calls.
class ObjectWriter {
 public:
  ObjectWriter() { writer_.StartObject(); }
  ObjectWriter& text(std::string_view name, std::string_view value);
  ObjectWriter& integer(std::string_view name, std::int64_t value);
  ObjectWriter& flag(std::string_view name, bool value);
  ObjectWriter& raw(std::string_view name, std::string_view json);
  std::string done();

 private:
  void key(std::string_view name) { writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

/// Without NULs, which the boundary's texts do not have.
std::string clean(std::string_view text);

/// `text` as a JSON string literal.
std::string quoted(std::string_view text);

}  // namespace service_json
