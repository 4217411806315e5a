// Numbers of JSON, read by the standard library. RapidJSON reads its tables at any index for numbers that are very
// small: "0.000...1" with some hundred zeroes (kParseFullPrecisionFlag), "0.0000000001e-2147483639" (without it).
// Whatever is not our own is parsed with kParseNumbersAsStringsFlag.
#pragma once

#include <rapidjson/rapidjson.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace krux {

using JsonNumber = std::variant<std::int64_t, std::uint64_t, double>;

/// `text` as JSON writes a number; nothing where it is beyond what a double can be.
std::optional<JsonNumber> read_json_number(std::string_view text);

/// Passes RapidJSON's events on to `Next`, numbers as what they are.
template <class Next>
class WithNumbers {
 public:
  explicit WithNumbers(Next& next) : next_(next) {}

  bool Null() { return next_.Null(); }
  bool Bool(bool b) { return next_.Bool(b); }
  // The reader asks for these, and calls RawNumber() alone.
  bool Int(int i) { return next_.Int(i); }
  bool Uint(unsigned u) { return next_.Uint(u); }
  bool Int64(std::int64_t i) { return next_.Int64(i); }
  bool Uint64(std::uint64_t u) { return next_.Uint64(u); }
  bool Double(double d) { return next_.Double(d); }
  bool RawNumber(const char* s, rapidjson::SizeType n, bool) {
    const auto number = read_json_number({s, n});
    too_large_ = !number;
    return number && std::visit([this](auto value) { return this->put(value); }, *number);
  }
  bool String(const char* s, rapidjson::SizeType n, bool copy) { return next_.String(s, n, copy); }
  bool Key(const char* s, rapidjson::SizeType n, bool copy) { return next_.Key(s, n, copy); }
  bool StartObject() { return next_.StartObject(); }
  bool EndObject(rapidjson::SizeType n) { return next_.EndObject(n); }
  bool StartArray() { return next_.StartArray(); }
  bool EndArray(rapidjson::SizeType n) { return next_.EndArray(n); }

  /// Whether a number was refused.
  bool too_large() const { return too_large_; }

 private:
  bool put(std::int64_t value) { return next_.Int64(value); }
  bool put(std::uint64_t value) { return next_.Uint64(value); }
  bool put(double value) { return next_.Double(value); }

  Next& next_;
  bool too_large_ = false;
};

}  // namespace krux
