#include "html_entities.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::string_view kTable =
#include "html_entity_names.inc"
    ;
constexpr std::size_t kLongestName = 32;

struct Entity {
  std::string_view name, characters;  ///< the latter in hexadecimal, "3d+20e5"
  bool needs_semicolon;
};

std::vector<Entity> read_table() {
  std::vector<Entity> all;
  for (std::size_t at = 0; at < kTable.size();) {
    const auto end = std::min(kTable.find(' ', at), kTable.size());
    const auto one = kTable.substr(at, end - at);
    const auto mark = one.find_first_of(":!");
    all.push_back({one.substr(0, mark), one.substr(mark + 1), one[mark] == ':'});
    at = end + 1;
  }
  std::sort(all.begin(), all.end(), [](const Entity& a, const Entity& b) { return a.name < b.name; });
  return all;
}

const Entity* find_entity(std::string_view name) {
  static const std::vector<Entity> all = read_table();
  const auto at =
      std::lower_bound(all.begin(), all.end(), name, [](const Entity& e, std::string_view n) { return e.name < n; });
  return at != all.end() && at->name == name ? &*at : nullptr;
}

int digit_of(char c, bool hex) {
  if (c >= '0' && c <= '9') return c - '0';
  if (!hex) return -1;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void append_characters(std::string& out, std::string_view hexadecimal) {
  std::uint32_t value = 0;
  for (const char c : hexadecimal) {
    if (c == '+') {
      append_utf8(out, value);
      value = 0;
    } else {
      value = value * 16 + static_cast<std::uint32_t>(digit_of(c, true));
    }
  }
  append_utf8(out, value);
}

/// Numbers of C1 controls stand for what Windows-1252 has in their places.
char32_t character_of(std::uint32_t number) {
  constexpr std::array<char16_t, 32> kWestern = {0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                                 0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                                 0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
  if (number >= 0x80 && number < 0xa0) return kWestern[number - 0x80];
  const bool surrogate = number >= 0xd800 && number <= 0xdfff;
  return number == 0 || number > 0x10ffff || surrogate ? 0xfffd : number;
}

/// What follows "&#"; how much of it belongs to the number, 0 where it is none.
std::size_t numeric(std::string_view text, std::string& out) {
  const bool hex = !text.empty() && (text[0] == 'x' || text[0] == 'X');
  const std::size_t from = hex ? 1 : 0;
  auto at = from;
  std::uint32_t value = 0;
  for (; at < text.size() && digit_of(text[at], hex) >= 0; ++at) {
    if (value <= 0x10ffff) value = value * (hex ? 16 : 10) + static_cast<std::uint32_t>(digit_of(text[at], hex));
  }
  if (at == from) return 0;
  append_utf8(out, character_of(value));
  return at < text.size() && text[at] == ';' ? at + 1 : at;
}

/// What follows "&"; how much of it belongs to the name, the longest that there is, 0 where it is none.
std::size_t named(std::string_view text, bool is_attribute, std::string& out) {
  std::size_t length = 0;
  while (length < text.size() && length < kLongestName && is_name_character(text[length])) ++length;
  if (length < text.size() && text[length] == ';') {
    if (const auto* entity = find_entity(text.substr(0, length))) {
      append_characters(out, entity->characters);
      return length + 1;
    }
  }
  for (; length > 0; --length) {
    const auto* entity = find_entity(text.substr(0, length));
    if (!entity || entity->needs_semicolon) continue;
    const char next = length < text.size() ? text[length] : ' ';
    if (is_attribute && (next == '=' || is_name_character(next))) return 0;
    append_characters(out, entity->characters);
    return length;
  }
  return 0;
}

}  // namespace

std::string without_references(std::string_view text, bool is_attribute) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto next = std::min(text.find('&', at), text.size());
    out += text.substr(at, next - at);
    if (next == text.size()) break;
    const auto rest = text.substr(next + 1);
    const auto length = rest.starts_with('#') ? numeric(rest.substr(1), out) : named(rest, is_attribute, out);
    if (length == 0) out += '&';
    at = next + 1 + length + (length > 0 && rest.starts_with('#') ? 1 : 0);
  }
  return out;
}

}  // namespace gmail
