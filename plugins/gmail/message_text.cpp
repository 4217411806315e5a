#include "message_text.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include "mail/headers.hpp"
#include "mail/utf8.hpp"

namespace gmail {
namespace {

/// What stands between "&" and ";".
std::optional<std::uint32_t> entity(std::string_view name) {
  struct Known {
    std::string_view name;
    std::uint32_t character;
  };
  constexpr Known known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xA0}};
  for (const auto& one : known) {
    if (one.name == name) return one.character;
  }
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  std::uint32_t value = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), value, hex ? 16 : 10);
  const bool is_character = value >= 0x20 && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
  if (name.empty() || read.ptr != name.data() + name.size() || !is_character) return std::nullopt;
  return value;
}

}  // namespace

std::string cut(std::string text, std::size_t most) {
  cut_text(text, most);
  return text;
}

std::string header_text(std::string_view value, std::size_t most) {
  return cut(decode_header(value), most);
}

std::string without_entities(std::string_view text) {
  constexpr std::size_t longest = 12;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == '&' ? text.substr(0, at + longest).find(';', at) : std::string_view::npos;
    const auto found = end == std::string_view::npos ? std::nullopt : entity(text.substr(at + 1, end - at - 1));
    if (found) {
      append_utf8(out, *found);
      at = end + 1;
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace gmail
