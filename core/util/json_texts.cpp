#include "core/util/json_texts.hpp"

#include <cstdint>
#include <string>

#include "core/util/text.hpp"

namespace krux {
namespace {

std::uint32_t hex4(std::string_view text) {
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const auto digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value << 4 | static_cast<std::uint32_t>(digit & 0xf);
  }
  return value;
}

bool is_half(std::uint32_t code) {
  return code >= 0xd800 && code < 0xe000;
}

/// `raw` begins behind "\u"; returns how many of its bytes were read.
std::size_t unescape_unicode(std::string_view raw, std::string& out) {
  const auto code = hex4(raw);
  if (code >= 0xd800 && code < 0xdc00 && raw.substr(4).starts_with("\\u")) {
    const auto low = hex4(raw.substr(6));
    if (low >= 0xdc00 && low < 0xe000) {
      append_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return 10;
    }
  }
  append_utf8(out, is_half(code) ? 0xfffd : code);
  return 4;
}

void unescape(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < raw.size();) {
    const auto plain = raw.substr(at, raw.find('\\', at) - at);
    out += plain;
    at += plain.size();
    if (at + 1 >= raw.size()) return;
    const char c = raw[at + 1];
    at += 2;
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        at += unescape_unicode(raw.substr(at), out);
        break;
      default:
        out += c;
    }
  }
}

/// Where the text that begins at `from` ends: at its closing quotation mark.
std::size_t end_of_text(std::string_view json, std::size_t from) {
  for (auto at = json.find_first_of("\"\\", from); at != std::string_view::npos;
       at = json.find_first_of("\"\\", at + 2)) {
    if (json[at] == '"') return at;
  }
  return json.size();
}

}  // namespace

void each_text(std::string_view json, const std::function<void(std::string_view, std::string_view)>& told) {
  std::string key, unescaped;
  for (auto open = json.find('"'); open != std::string_view::npos;) {
    const auto end = end_of_text(json, open + 1);
    auto text = json.substr(open + 1, end - open - 1);
    if (text.find('\\') != std::string_view::npos) {
      unescape(text, unescaped);
      text = unescaped;
    }
    const auto behind = json.find_first_not_of(" \t\r\n", end + 1);
    if (behind != std::string_view::npos && json[behind] == ':') {
      key = text;
    } else {
      told(key, text);
    }
    open = end < json.size() ? json.find('"', end + 1) : std::string_view::npos;
  }
}

}  // namespace krux
