// kruxos/kit/json.hpp - JSON as adapters need it, by RapidJSON: what a service sends is read within bounds, whatever it
// is.
//
// Iterative (deep nesting cannot overflow the stack) to a bounded depth, UTF-8 checked, and no number is read by
// RapidJSON itself. Like everything in kruxos/kit it is compiled into the adapter: it is no part of the boundary, and
// an adapter goes on working whatever becomes of it. RapidJSON's headers are the adapter's to have; the CMake target
// Kruxos::kit finds them.
#pragma once
#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/text.hpp>
#include <kruxos/kit/time.hpp>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#ifndef __cpp_lib_to_chars
#include <locale.h>
#endif

#if defined(RAPIDJSON_SSE2) || defined(RAPIDJSON_SSE42) || defined(RAPIDJSON_NEON)
#error "RapidJSON 1.1.0 writes 0x1a to 0x1f raw with its vector instructions, which is no JSON: do not define these."
#endif

namespace kruxos::kit {

using Json = rapidjson::Value;

/// Levels of arrays and objects that are accepted; services' answers are seldom deeper than that of a mail's parts, a
/// hundred.
inline constexpr int kDeepest = 128;

namespace detail {

/// The iterative parser takes 16 bytes a level: a large answer of nothing but brackets would cost gigabytes.
inline bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = false;
      }
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

inline constexpr std::uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;

inline std::uint64_t zero_bytes(std::uint64_t eight) {
  return (eight - kOnes) & ~eight & kHighs;
}

/// UTF-8 without NUL, not nested deeper than kDeepest. In one pass, since answers are ASCII nearly all of the way.
inline bool is_parsable(std::string_view text) {
  constexpr std::uint64_t brackets = kOnes * '{', small = kOnes * 0x20;  // "[" is "{" without a bit
  int opened = 0;                                                        // or more: texts have brackets too
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t eight = 0;
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if (((eight | (eight - kOnes)) & kHighs) == 0) {  // no byte is 0 or above 0x7f
        const auto found = zero_bytes((eight | small) ^ brackets);
        if (found != 0) opened += std::popcount(found);
        at += sizeof eight;
        continue;
      }
    }
    const auto c = next_character(text, at);
    if (c == 0 || c == kInvalid) return false;
    if (c == '{' || c == '[') ++opened;
  }
  return opened <= kDeepest || !too_deep(text);
}

/// The four hexadecimal digits at `at`; -1 where they are none.
inline int code_unit(std::string_view text, std::size_t at) {
  int unit = 0;
  if (text.size() < at + 4) return -1;
  const auto* const end = text.data() + at + 4;
  const auto read = std::from_chars(text.data() + at, end, unit, 16);
  return read.ec == std::errc() && read.ptr == end ? unit : -1;
}

/// Half of a surrogate pair, which escapes can spell and UTF-8 cannot, becomes U+FFFD; services written in JavaScript
/// send such. In place, for both escapes are of one length.
inline void replace_halves(char* text, std::size_t size) {
  const std::string_view all(text, size);
  for (auto at = all.find('\\'); at != std::string_view::npos; at = all.find('\\', at)) {
    const int unit = all.substr(at, 2) == "\\u" ? code_unit(all, at + 2) : -1;
    if (unit < 0) {
      at += 2;
      continue;
    }
    const bool low_follows = all.substr(at + 6, 2) == "\\u" && (code_unit(all, at + 8) & ~0x3ff) == 0xdc00;
    const bool whole = (unit & ~0x3ff) == 0xd800 && low_follows;
    if ((unit & ~0x7ff) == 0xd800 && !whole) std::copy_n("fffd", 4, text + at + 2);
    at += whole ? 12 : 6;
  }
}

/// Builds the document, and reads its numbers with the standard library: RapidJSON reads a table at any index for
/// "0.0000000001e-2147483639".
class Builder {
 public:
  explicit Builder(rapidjson::Document& document) : document_(document) {}

  bool Null() { return document_.Null(); }
  bool Bool(bool b) { return document_.Bool(b); }
  // The reader asks for these, and calls RawNumber() alone.
  bool Int(int i) { return document_.Int(i); }
  bool Uint(unsigned u) { return document_.Uint(u); }
  bool Int64(std::int64_t i) { return document_.Int64(i); }
  bool Uint64(std::uint64_t u) { return document_.Uint64(u); }
  bool Double(double d) { return document_.Double(d); }
  bool RawNumber(const char* digits, rapidjson::SizeType size, bool) {
    const std::string_view text(digits, size);
    std::int64_t whole = 0;
    std::uint64_t large = 0;
    if (is(text, whole)) return document_.Int64(whole);
    if (is(text, large)) return document_.Uint64(large);
    const double number = fraction(text);
    return std::isfinite(number) && document_.Double(number);
  }
  bool String(const char* s, rapidjson::SizeType n, bool copy) { return document_.String(s, n, copy); }
  bool Key(const char* s, rapidjson::SizeType n, bool copy) { return document_.Key(s, n, copy); }
  bool StartObject() { return document_.StartObject(); }
  bool EndObject(rapidjson::SizeType n) { return document_.EndObject(n); }
  bool StartArray() { return document_.StartArray(); }
  bool EndArray(rapidjson::SizeType n) { return document_.EndArray(n); }

 private:
  template <class Number>
  static bool is(std::string_view text, Number& number) {
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc() && read.ptr == end;
  }

  static double fraction(std::string_view text) {
#ifdef __cpp_lib_to_chars
    if (double number = 0; is(text, number)) return number;
    return std::strtod(std::string(text).c_str(), nullptr);  // beyond a double's range
#else
    static const locale_t point = newlocale(LC_ALL_MASK, "C", nullptr);  // another one may want a comma
    return strtod_l(std::string(text).c_str(), nullptr, point);
#endif
  }

  rapidjson::Document& document_;
};

}  // namespace detail

/// A document whose HasParseError() is true when `text` is not one JSON value or is nested deeper than kDeepest. Halves
/// of surrogate pairs in its escapes become U+FFFD; escaped NULs stay, and the host makes the same of them and counts.
inline rapidjson::Document parse(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // some services begin a text with it
  constexpr std::size_t read_ahead = 16;             // the parser looks at so many bytes at once
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  // The parser could check the encoding itself, byte by byte, which takes three times as long.
  if (!detail::is_parsable(text)) text = {};
  rapidjson::Document document;
  // Texts stay where they are, in a copy that the document owns.
  auto* const copy = static_cast<char*>(document.GetAllocator().Malloc(text.size() + read_ahead));
  if (!copy) throw std::bad_alloc();
  text.copy(copy, text.size());
  detail::replace_halves(copy, text.size());
  std::memset(copy + text.size(), 0, read_ahead);
  rapidjson::InsituStringStream stream(copy);
  bool whole = false;
  const auto build = [&](rapidjson::Document& to) {
    constexpr unsigned flags =
        rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
    detail::Builder builder(to);
    rapidjson::Reader reader;
    return whole = !reader.Parse<flags>(stream, builder).IsError();
  };
  document.Populate(build);
  if (!whole) {
    // So that it says of itself that it is none. Volatile: g++ warns of RapidJSON's code where it knows the text.
    const char* volatile nothing = "";
    document.Parse(nothing);
  }
  return document;
}

/// An object; any other text throws kUnavailable with the sentence `otherwise`.
inline rapidjson::Document parse_object(std::string_view text, const std::string& otherwise) {
  auto document = parse(text);
  if (document.HasParseError() || !document.IsObject()) throw ProxyError(ErrorKind::kUnavailable, otherwise);
  return document;
}

/// nullptr where it is missing or `object` is none. What a service sends is never relied on: so are all that follow.
inline const Json* member(const Json& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  const auto at = object.FindMember(Json(name.data(), static_cast<rapidjson::SizeType>(name.size())));
  return at == object.MemberEnd() ? nullptr : &at->value;
}

/// The member's text, or `otherwise` when it is missing or of another type. As long-lived as the document.
inline std::string_view text_of(const Json& object, std::string_view name, std::string_view otherwise = {}) {
  const auto* value = member(object, name);
  return value && value->IsString() ? std::string_view(value->GetString(), value->GetStringLength()) : otherwise;
}

inline std::string text_of(rapidjson::Document&& object, std::string_view name, std::string_view otherwise = {}) {
  const Json& kept = object;
  return std::string(text_of(kept, name, otherwise));
}

inline std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t otherwise = 0) {
  const auto* value = member(object, name);
  return value && value->IsInt64() ? value->GetInt64() : otherwise;
}

inline bool flag_of(const Json& object, std::string_view name) {
  const auto* value = member(object, name);
  return value && value->IsBool() && value->GetBool();
}

/// The member at a path of names with dots between them ("meta.next"); the value itself for an empty one. nullptr where
/// there is none.
inline const Json* member_at(const Json& value, std::string_view path) {
  const auto* at = &value;
  while (at && !path.empty()) {
    const auto name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    at = member(*at, name);
  }
  return at;
}

/// A whole number as text, such as an id that is one; empty where the member is anything else. (An id that is a text is
/// read by text_of: an answer in which it is of another type was not understood.)
inline std::string digits_of(const Json& value) {
  if (value.IsInt64()) return std::to_string(value.GetInt64());
  return value.IsUint64() ? std::to_string(value.GetUint64()) : std::string();
}
inline std::string digits_of(const Json& object, std::string_view name) {
  const auto* value = member(object, name);
  return value ? digits_of(*value) : std::string();
}

/// A moment in RFC 3339 as Unix milliseconds, or `otherwise` where the member is none.
inline std::int64_t moment_of(const Json& object, std::string_view name, std::int64_t otherwise = 0) {
  return parse_rfc3339(text_of(object, name)).value_or(otherwise);
}

/// nullptr where the member is no array.
inline const Json* array_of(const Json& object, std::string_view name) {
  const auto* value = member(object, name);
  return value && value->IsArray() ? value : nullptr;
}

/// nullptr where the member is no array, or has something else than objects in it.
inline const Json* objects_of(const Json& object, std::string_view name) {
  const auto* value = array_of(object, name);
  const auto is_object = [](const Json& item) { return item.IsObject(); };
  return value && std::all_of(value->Begin(), value->End(), is_object) ? value : nullptr;
}

/// The texts of an array, of `array` itself or of the member; what else is in it is left out.
inline std::vector<std::string> texts_of(const Json& array) {
  std::vector<std::string> out;
  if (!array.IsArray()) return out;
  for (const auto& item : array.GetArray()) {
    if (item.IsString()) out.emplace_back(item.GetString(), item.GetStringLength());
  }
  return out;
}
inline std::vector<std::string> texts_of(const Json& object, std::string_view name) {
  const auto* value = member(object, name);
  return value ? texts_of(*value) : std::vector<std::string>();
}

/// Builds one object, members in the order of the calls.
class ObjectWriter {
 public:
  ObjectWriter() { writer_.StartObject(); }
  ObjectWriter& text(std::string_view name, std::string_view value) {
    key(name);
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    return *this;
  }
  ObjectWriter& integer(std::string_view name, std::int64_t value) {
    key(name);
    writer_.Int64(value);
    return *this;
  }
  ObjectWriter& flag(std::string_view name, bool value) {
    key(name);
    writer_.Bool(value);
    return *this;
  }
  ObjectWriter& raw(std::string_view name, std::string_view json) {
    key(name);
    writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
    return *this;
  }
  std::string done() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void key(std::string_view name) { writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

/// `text` as a JSON string literal.
inline std::string quoted(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return {buffer.GetString(), buffer.GetSize()};
}

/// The value as JSON.
inline std::string json_text(const Json& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

/// Builds one array of what is JSON already.
class ArrayWriter {
 public:
  ArrayWriter& raw(std::string_view json) {
    (out_ += out_.empty() ? '[' : ',') += json;
    return *this;
  }
  ArrayWriter& text(std::string_view value) { return raw(quoted(value)); }
  std::size_t size() const noexcept { return out_.size(); }  ///< bytes so far
  std::string done() const { return out_.empty() ? "[]" : out_ + ']'; }

 private:
  std::string out_;
};

/// Texts as a JSON array.
inline std::string quoted_list(const std::vector<std::string>& texts) {
  ArrayWriter out;
  for (const auto& text : texts) out.text(text);
  return out.done();
}

}  // namespace kruxos::kit
