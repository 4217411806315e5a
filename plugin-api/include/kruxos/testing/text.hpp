// kruxos/testing/text.hpp - what the host checks and does with text, for the fakes. Nothing in here is for authors to
// call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kruxos::testing::detail {

/// Takes the code point at `at` and moves `at` behind it; -1 where the bytes there are not valid UTF-8.
inline std::int32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() - at < length) return ++at, -1;
  std::int32_t value = length == 1 ? first : first & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return ++at, -1;
    value = value << 6 | (byte(at + i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return ++at, -1;
  at += length;
  return value;
}

inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (next_code_point(text, at) < 0) return false;
  }
  return true;
}

inline void append_utf8(std::string& out, std::int32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
  } else {
    out += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
            static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
  }
}

/// Lower case of Latin-1, Greek and Cyrillic letters.
inline std::int32_t lower(std::int32_t c) {
  const auto within = [c](std::int32_t from, std::int32_t to) { return c >= from && c <= to; };
  if (within('A', 'Z') || (within(0xC0, 0xDE) && c != 0xD7) || (within(0x391, 0x3AB) && c != 0x3A2) ||
      within(0x410, 0x42F)) {
    return c + 32;
  }
  if (within(0x400, 0x40F)) return c + 80;
  if (within(0x388, 0x38A)) return c + 37;
  if (within(0x38E, 0x38F)) return c + 63;
  if (c == 0x386 || c == 0x38C) return c + (c == 0x386 ? 38 : 64);
  return c == 0x3C2 ? 0x3C3 : c;  // the final sigma is a sigma
}

/// Without the characters U+E000 to U+F8FF.
inline std::string without_private(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto from = at;
    const auto c = next_code_point(text, at);
    if (c < 0xE000 || c > 0xF8FF) out += text.substr(from, at - from);
  }
  return out;
}

/// What the host's search index makes of a text, as far as tables of a few lines go: letters of Latin-1, Greek and
/// Cyrillic lose their case, the sharp s becomes ss. The host folds all of Unicode and its normal forms besides.
inline std::string fold(std::string_view text, bool keep_separators = false) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_code_point(text, at);
    if (c == 0 || (c == 0x1F && !keep_separators)) continue;
    if (c == 0xDF || c == 0x1E9E) {
      out += "ss";
    } else {
      append_utf8(out, c < 0 ? 0xFFFD : lower(c));
    }
  }
  return out;
}

/// What a folded letter of Latin-1 or Greek, or ё, is without its accent, as far as a table of a few lines goes.
inline std::string_view plain_letter(std::int32_t c) {
  constexpr std::string_view latin[] = {"a", "a", "a", "a", "a", "a", "ae", "c", "e",  "e", "e",
                                        "e", "i", "i", "i", "i", "d", "n",  "o", "o",  "o", "o",
                                        "o", "",  "o", "u", "u", "u", "u",  "y", "th", "y"};
  if (c >= 0xE0 && c <= 0xFF) return latin[c - 0xE0];
  switch (c) {
    case 0x3AC:
      return "\u03B1";
    case 0x3AD:
      return "\u03B5";
    case 0x3AE:
      return "\u03B7";
    case 0x3AF:
    case 0x3CA:
      return "\u03B9";
    case 0x3CC:
      return "\u03BF";
    case 0x3CB:
    case 0x3CD:
      return "\u03C5";
    case 0x3CE:
      return "\u03C9";
    case 0x451:
      return "\u0435";
    default:
      return {};
  }
}

/// Of a folded text; the host knows all of Latin and Greek.
inline std::string without_accents(std::string_view folded) {
  std::string out;
  for (std::size_t at = 0; at < folded.size();) {
    const auto from = at;
    const auto plain = plain_letter(next_code_point(folded, at));
    out += plain.empty() ? folded.substr(from, at - from) : plain;
  }
  return out;
}

}  // namespace kruxos::testing::detail
