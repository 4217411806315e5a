#include "core/util/json.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/json_check.hpp"
#include "core/util/json_numbers.hpp"
#include "core/util/seen_keys.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;

/// RapidJSON takes "\udc00" alone and makes of it what is no UTF-8.
bool has_surrogate(std::string_view text) {
  for (auto at = text.find('\xed'); at != std::string_view::npos; at = text.find('\xed', at + 1)) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) return true;
  }
  return false;
}

/// The four hexadecimal digits at `at`; nothing where they are none.
std::optional<std::uint32_t> code_unit(std::string_view json, std::size_t at) {
  std::uint32_t unit = 0;
  if (json.size() < at + 4) return std::nullopt;
  const auto* const end = json.data() + at + 4;
  const auto read = std::from_chars(json.data() + at, end, unit, 16);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return unit;
}

/// Calls `odd(at, is_nul)` with the place of the digits of each escape that spells U+0000 or half of a surrogate pair.
template <class Odd>
void each_odd_escape(std::string_view json, Odd odd) {
  for (auto at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    const bool spells = at + 1 < json.size() && json[at + 1] == 'u';
    const auto unit = spells ? code_unit(json, at + 2) : std::nullopt;
    if (!unit) {
      at += 2;
      continue;
    }
    const bool low_follows =
        json.substr(at + 6, 2) == "\\u" && (code_unit(json, at + 8).value_or(0) & 0xfc00) == 0xdc00;
    if ((*unit & 0xfc00) == 0xd800 && low_follows) {
      at += 12;
      continue;
    }
    if (*unit == 0 || (*unit & 0xf800) == 0xd800) odd(at + 2, *unit == 0);
    at += 6;
  }
}

/// Passes SAX events on to `Next`, and stops at what the limits or the rules forbid.
template <class Next>
class Checked {
 public:
  Checked(Next& next, const JsonLimits& limits) : next_(next), limits_(limits) {}

  bool Null() { return next_.Null(); }
  bool Bool(bool b) { return next_.Bool(b); }
  bool Int(int i) { return next_.Int(i); }
  bool Uint(unsigned u) { return next_.Uint(u); }
  bool Int64(std::int64_t i) { return next_.Int64(i); }
  bool Uint64(std::uint64_t u) { return next_.Uint64(u); }
  bool Double(double d) { return next_.Double(d); }
  bool RawNumber(const char* s, rapidjson::SizeType n, bool copy) { return next_.RawNumber(s, n, copy); }
  bool String(const char* s, rapidjson::SizeType n, bool copy) { return is_text(s, n) && next_.String(s, n, copy); }
  bool Key(const char* s, rapidjson::SizeType n, bool copy) {
    if (!is_text(s, n)) return false;
    if (keys_.count() >= limits_.max_keys)
      return stop(fmt::format("an object in it has more than {} keys", limits_.max_keys));
    if (!keys_.add({s, n})) return stop(fmt::format("the key \"{}\" stands twice", printable({s, n})));
    return next_.Key(s, n, copy);
  }
  bool StartObject() {
    keys_.open();
    return deeper() && next_.StartObject();
  }
  bool EndObject(rapidjson::SizeType n) {
    keys_.close();
    --depth_;
    return next_.EndObject(n);
  }
  bool StartArray() { return deeper() && next_.StartArray(); }
  bool EndArray(rapidjson::SizeType n) {
    --depth_;
    return next_.EndArray(n);
  }

  const std::string& why() const { return why_; }

 private:
  bool stop(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool deeper() {
    return ++depth_ <= limits_.max_depth || stop(fmt::format("it is nested deeper than {} levels", limits_.max_depth));
  }
  bool is_text(const char* s, rapidjson::SizeType n) {
    if (limits_.odd_text == OddText::kKept) return true;
    if (std::find(s, s + n, '\0') != s + n) return stop("it has a NUL character in a string");
    return !has_surrogate({s, n}) || stop("it has half of a surrogate pair in a string");
  }

  Next& next_;
  const JsonLimits limits_;
  int depth_ = 0;
  SeenKeys keys_;
  std::string why_;
};

/// Parses into `handler`; returns an empty string or the reason.
template <class Handler>
std::string parse_into(std::string_view text, Handler& handler, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes)
    return fmt::format("it has {} bytes, at most {} are allowed", text.size(), limits.max_bytes);
  std::string readable;
  if (limits.odd_text != OddText::kRefused && text.find("\\u") != std::string_view::npos) {
    readable = text;
    if (limits.odd_text == OddText::kReplaced) {
      replace_odd_escapes(readable);
    } else {
      make_halves_readable(readable);
    }
    text = readable;
  }
  rapidjson::MemoryStream stream(text.data(), text.size());
  WithNumbers<Handler> numbers(handler);
  Checked<WithNumbers<Handler>> checked(numbers, limits);
  rapidjson::Reader reader;
  const auto result = reader.template Parse<kParseFlags>(stream, checked);
  // A NUL byte looks like the end of the text to RapidJSON.
  if (!result.IsError() && stream.Tell() != text.size())
    return fmt::format("it has a NUL byte (at byte {})", stream.Tell());
  if (!result.IsError()) return {};
  if (!checked.why().empty()) return checked.why();
  if (numbers.too_large()) return "it has a number that is too large";
  return fmt::format("{} (at byte {})", rapidjson::GetParseError_En(result.Code()), result.Offset());
}

/// ECMAScript's Number::toString, which RFC 8785 asks for, from the shortest digits that std::to_chars finds.
std::string canonical_number(double value) {
  if (!std::isfinite(value)) throw invalid_input("A number is beyond what JSON can carry; use a smaller one.");
  if (value == 0) return "0";
  std::array<char, 40> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const auto e = text.find('e');
  std::string digits(text.substr(0, e));
  std::erase(digits, '.');
  int exponent = 0;
  const auto power = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  const int k = static_cast<int>(digits.size()), n = exponent + 1;
  std::string out = value < 0 ? "-" : "";
  if (k <= n && n <= 21) return out + digits + std::string(static_cast<std::size_t>(n - k), '0');
  if (0 < n && n <= 21)
    return out + digits.substr(0, static_cast<std::size_t>(n)) + "." + digits.substr(static_cast<std::size_t>(n));
  if (-6 < n && n <= 0) return out + "0." + std::string(static_cast<std::size_t>(-n), '0') + digits;
  out += digits.substr(0, 1);
  if (k > 1) out += "." + digits.substr(1);
  return out + fmt::format("e{}{}", n - 1 < 0 ? '-' : '+', std::abs(n - 1));
}

std::string canonical_number(const JsonValue& value) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  const bool too_large = value.IsInt64() ? (value.GetInt64() > exact || value.GetInt64() < -exact) : value.IsUint64();
  if (too_large)
    throw invalid_input("A whole number is beyond 2^53, where JSON numbers are no longer exact; give it as a string.");
  return canonical_number(value.GetDouble());
}

/// RFC 8785 sorts by UTF-16 code units: surrogates (D800..DFFF) come before U+E000..U+FFFF.
bool utf16_less(std::string_view a, std::string_view b) {
  const auto weight = [](unsigned char c) { return c >= 0xf0 ? 0xed5 : c * 0x10; };
  const auto diff = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (diff.first == a.end() || diff.second == b.end()) return a.size() < b.size();
  const auto x = static_cast<unsigned char>(*diff.first), y = static_cast<unsigned char>(*diff.second);
  const auto wx = weight(x), wy = weight(y);
  return wx != wy ? wx < wy : x < y;
}

void write_canonical(const JsonValue& value, std::string& out) {
  if (value.IsObject()) {
    std::vector<const JsonValue::Member*> members;
    for (const auto& m : value.GetObject()) members.push_back(&m);
    std::sort(members.begin(), members.end(),
              [](auto* a, auto* b) { return utf16_less(view(a->name), view(b->name)); });
    char comma = '{';
    for (const auto* m : members) {
      out += comma;
      comma = ',';
      out += json_string(view(m->name));
      out += ':';
      write_canonical(m->value, out);
    }
    out += members.empty() ? "{}" : "}";
  } else if (value.IsArray()) {
    char comma = '[';
    for (const auto& item : value.GetArray()) {
      out += comma;
      comma = ',';
      write_canonical(item, out);
    }
    out += value.Empty() ? "[]" : "]";
  } else if (value.IsNumber()) {
    out += canonical_number(value);
  } else if (value.IsString()) {
    out += json_string(view(value));
  } else {
    out += value.IsNull() ? "null" : value.GetBool() ? "true" : "false";
  }
}

/// With its place within `value`. The place is put together from within, once something was found: a long key would be
/// copied for each value below it otherwise.
std::optional<OddTextFound> find_odd_text_in(const JsonValue& value) {
  if (value.IsString()) {
    if (auto why = why_odd_text(view(value)); !why.empty()) return OddTextFound{{}, std::move(why)};
  } else if (value.IsArray()) {
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      auto found = find_odd_text_in(value[i]);
      if (!found) continue;
      found->where.insert(0, fmt::format("[{}]", i));
      return found;
    }
  } else if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      auto found = find_odd_text_in(member.value);
      if (const auto key = why_odd_text(view(member.name)); !key.empty()) found = OddTextFound{{}, "as a key " + key};
      if (!found) continue;
      found->where.insert(0, "." + printable(view(member.name)));
      return found;
    }
  }
  return std::nullopt;
}

/// Takes every event and keeps nothing but whether the text began with an object.
struct ObjectOnly : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, ObjectOnly> {
  bool object = false, any = false;
  bool Default() {
    any = true;
    return true;
  }
  bool StartObject() {
    if (!any) object = true;
    any = true;
    return true;
  }
};

}  // namespace

JsonDocument parse_json(std::string_view text, std::string_view what, const JsonLimits& limits) {
  JsonDocument document;
  std::string why;
  auto parse = [&](JsonDocument& handler) {
    why = parse_into(text, handler, limits);
    return why.empty();
  };
  document.Populate(parse);
  if (!why.empty()) throw invalid_input(fmt::format("{} is not valid JSON: {}.", what, why));
  return document;
}

bool is_json_object(std::string_view text, const JsonLimits& limits, std::string* why) {
  if (is_plain_json_object(text, limits)) {
    if (why) why->clear();
    return true;
  }
  ObjectOnly handler;
  std::string reason = parse_into(text, handler, limits);
  if (reason.empty() && !handler.object) reason = "it is not a JSON object";
  if (why) *why = reason;
  return reason.empty();
}

std::size_t replace_odd_escapes(std::span<char> json) {
  std::size_t count = 0;
  each_odd_escape({json.data(), json.size()}, [&](std::size_t at, bool) {
    std::memcpy(json.data() + at, "fffd", 4);
    ++count;
  });
  return count;
}

void make_halves_readable(std::span<char> json) {
  each_odd_escape({json.data(), json.size()}, [&](std::size_t at, bool is_nul) {
    if (!is_nul) std::memcpy(json.data() + at, "dc00", 4);
  });
}

std::string why_odd_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    return "holds the character U+0000 (NUL), which no service takes: leave it out";
  if (has_surrogate(text))
    return "holds half of a surrogate pair (an escape from \\ud800 to \\udfff that stands alone), which is no "
           "character: "
           "leave it out, or write the pair whole";
  return {};
}

std::optional<OddTextFound> find_odd_text(const JsonValue& value, std::string_view name) {
  auto found = find_odd_text_in(value);
  if (found) found->where.insert(0, name);
  return found;
}

std::string to_json(const JsonValue& value) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

std::string canonical_json(const JsonValue& value) {
  std::string out;
  write_canonical(value, out);
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

const JsonValue* find_member(const JsonValue& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  const auto at = object.FindMember(JsonValue(name.data(), static_cast<rapidjson::SizeType>(name.size())));
  return at == object.MemberEnd() ? nullptr : &at->value;
}

std::optional<std::string_view> find_string(const JsonValue& object, std::string_view name) {
  const auto* value = find_member(object, name);
  if (!value || !value->IsString()) return std::nullopt;
  return view(*value);
}

std::optional<std::int64_t> find_int(const JsonValue& object, std::string_view name) {
  const auto* value = find_member(object, name);
  if (!value || !value->IsInt64()) return std::nullopt;
  return value->GetInt64();
}

std::optional<bool> find_bool(const JsonValue& object, std::string_view name) {
  const auto* value = find_member(object, name);
  if (!value || !value->IsBool()) return std::nullopt;
  return value->GetBool();
}

}  // namespace krux
