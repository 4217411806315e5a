// kruxos/kit/text.hpp - text that came from outside, as the boundary and people want it. Needs no RapidJSON.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace kruxos::kit {
namespace detail {

inline constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";  // U+FFFD
inline constexpr char32_t kInvalid = 0xffffffff;

/// The character at `at`, which moves behind it; kInvalid where its bytes are no UTF-8.
inline char32_t next_character(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < more) return kInvalid;
  char32_t value = first & (0x3fU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0U) != 0x80) return kInvalid;
    value = value << 6U | (byte & 0x3fU);
  }
  const bool overlong = (more == 2 && value < 0x800) || (more == 3 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return kInvalid;
  at += more;
  return value;
}

/// Appends what is printable ASCII from `at` on, as nearly all is, and moves behind it.
inline bool take_printable(std::string_view text, std::size_t& at, std::string& out) {
  auto end = at;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x7f) ++end;
  out.append(text.substr(at, end - at));
  return std::exchange(at, end) != end;
}

inline bool turns_direction(char32_t c) {
  return c == 0x061c || (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// ASCII that no reader sees and every model reads.
inline bool is_tag(char32_t c) {
  return c >= 0xe0000 && c <= 0xe007f;
}

inline bool misleads(char32_t c) {
  return turns_direction(c) || is_tag(c);
}

enum class Becomes { kItself, kBlank, kNothing };

/// The text with each character as `what(character)` says, and U+FFFD for what is no UTF-8.
template <class What>
std::string cleaned(std::string_view bytes, What what) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    if (take_printable(bytes, at, out)) continue;
    const auto from = at;
    const auto c = next_character(bytes, at);
    if (c == kInvalid) {
      out += kReplacementText;
      continue;
    }
    const Becomes becomes = what(c);
    if (becomes == Becomes::kItself) out.append(bytes.substr(from, at - from));
    if (becomes == Becomes::kBlank) out += ' ';
  }
  return out;
}

inline char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

}  // namespace detail

inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (detail::next_character(text, at) == detail::kInvalid) return false;
  }
  return true;
}

inline void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0U | c >> 6U);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0U | c >> 12U);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0U | c >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// What is no UTF-8 becomes U+FFFD. Marks that turn the direction of writing and the letters that nobody sees (U+E0000
/// to U+E007F) are left out.
inline std::string clean_text(std::string_view bytes) {
  using detail::Becomes;
  return detail::cleaned(bytes, [](char32_t c) { return detail::misleads(c) ? Becomes::kNothing : Becomes::kItself; });
}

/// NULs become U+FFFD, as the boundary makes them: what a reader was shown.
inline std::string with_nuls_shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (auto nul = text.find('\0'); nul != std::string_view::npos; nul = text.find('\0')) {
    out += text.substr(0, nul);
    out += detail::kReplacementText;
    text.remove_prefix(nul + 1);
  }
  return out += text;
}

/// As clean_text, in one line: control characters become blanks, NUL is left out, and marks that turn the direction of
/// writing, with which one name is made to look like another, are left out.
inline std::string clean_line(std::string_view bytes) {
  using detail::Becomes;
  return detail::cleaned(bytes, [](char32_t c) {
    if (c == 0 || detail::misleads(c)) return Becomes::kNothing;
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
    return control ? Becomes::kBlank : Becomes::kItself;
  });
}

/// At most `most_bytes`, without cutting a character in two; of what is no text no more than 3 bytes less. Whether
/// something was cut.
inline bool cut_text(std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return false;
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80; };
  auto end = most_bytes;
  while (end > 0 && most_bytes - end < 3 && inside(end)) --end;
  text.resize(inside(end) ? most_bytes : end);
  return true;
}

/// What a service says, as a sentence may show it: printable ASCII, `most` characters, "?" for any other byte.
inline std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

/// ASCII letters in lower case; all others stay as they are.
inline std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = detail::lower_ascii(c);
  return out;
}

/// The same but for the case of ASCII letters, as names of headers are.
inline bool same_ascii(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return detail::lower_ascii(x) == detail::lower_ascii(y); });
}

}  // namespace kruxos::kit
