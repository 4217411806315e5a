#include "json.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>

namespace service_json {
namespace {

/// The iterative parser takes 16 bytes a level: a large answer of nothing but brackets would cost gigabytes.
bool too_deep(std::string_view text) {
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

/// How many bytes the character takes that `text` begins with; 0 where it is no UTF-8.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool beyond = (byte(0) == 0xed && byte(1) > 0x9f) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return overlong || beyond ? 0 : size;
}

constexpr std::uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;

std::uint64_t zero_bytes(std::uint64_t eight) {
  return (eight - kOnes) & ~eight & kHighs;
}

/// UTF-8 without NUL, not nested deeper than kDeepest. In one pass, since answers are ASCII nearly all of the way.
bool is_parsable(std::string_view text) {
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
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t size = first >= 0x80 ? character(text.substr(at)) : first > 0 ? 1 : 0;
    if (size == 0) return false;
    if (first == '{' || first == '[') ++opened;
    at += size;
  }
  return opened <= kDeepest || !too_deep(text);
}

}  // namespace

rapidjson::Document parse(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // some services begin a text with it
  constexpr std::size_t read_ahead = 16;             // the parser looks at so many bytes at once
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  // The parser could check the encoding itself, byte by byte, which takes three times as long.
  if (!is_parsable(text)) text = {};
  rapidjson::Document document;
  // Texts stay where they are, in a copy that the document owns.
  auto* const copy = static_cast<char*>(document.GetAllocator().Malloc(text.size() + read_ahead));
  if (!copy) throw std::bad_alloc();
  text.copy(copy, text.size());
  std::memset(copy + text.size(), 0, read_ahead);
  document.ParseInsitu<rapidjson::kParseIterativeFlag>(copy);
  return document;
}

const Json* member(const Json& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  const auto at = object.FindMember(Json(name.data(), static_cast<rapidjson::SizeType>(name.size())));
  return at == object.MemberEnd() ? nullptr : &at->value;
}

std::string_view text_of(const Json& object, std::string_view name, std::string_view otherwise) {
  const auto* value = member(object, name);
  return value && value->IsString() ? std::string_view(value->GetString(), value->GetStringLength()) : otherwise;
}

std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t otherwise) {
  const auto* value = member(object, name);
  return value && value->IsInt64() ? value->GetInt64() : otherwise;
}

bool flag_of(const Json& object, std::string_view name) {
  const auto* value = member(object, name);
  return value && value->IsBool() && value->GetBool();
}

ObjectWriter& ObjectWriter::text(std::string_view name, std::string_view value) {
  key(name);
  writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  return *this;
}

ObjectWriter& ObjectWriter::integer(std::string_view name, std::int64_t value) {
  key(name);
  writer_.Int64(value);
  return *this;
}

ObjectWriter& ObjectWriter::flag(std::string_view name, bool value) {
  key(name);
  writer_.Bool(value);
  return *this;
}

ObjectWriter& ObjectWriter::raw(std::string_view name, std::string_view json) {
  key(name);
  writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  return *this;
}

std::string ObjectWriter::done() {
  writer_.EndObject();
  return {buffer_.GetString(), buffer_.GetSize()};
}

std::string clean(std::string_view text) {
  std::string out(text);
  std::erase(out, '\0');
  return out;
}

std::string quoted(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace service_json
