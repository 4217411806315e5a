#include "core/util/text.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/util/error.hpp"

namespace krux {
namespace {

/// The code point at `at` and how many bytes it takes; -1 for an invalid byte (one byte is then skipped).
std::int32_t next_code_point(std::string_view text, std::size_t& at) {
  utf8proc_int32_t c = -1;
  const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                  static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  at += n > 0 ? static_cast<std::size_t>(n) : 1;
  return n > 0 ? c : -1;
}

/// Of ASCII and the private area U+E000 to U+F8FF alone: folding changes nothing but the case of letters.
bool is_plain(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    if (byte(at) < 0x80) {
      ++at;
      continue;
    }
    if (text.size() - at < 3 || (byte(at + 2) & 0xc0) != 0x80) return false;
    const bool is_private = byte(at) == 0xee ? (byte(at + 1) & 0xc0) == 0x80
                                             : byte(at) == 0xef && byte(at + 1) >= 0x80 && byte(at + 1) <= 0xa3;
    if (!is_private) return false;
    at += 3;
  }
  return true;
}

/// Unicode's White_Space, and the blank of braille.
bool is_white_space(std::int32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x2800 ||
         c == 0x3000;
}

bool is_double_quote(std::int32_t c) {
  return c == '"' || c == 0xab || c == 0xbb || (c >= 0x201c && c <= 0x201f) || c == 0x2033 || c == 0x2036 ||
         (c >= 0x301d && c <= 0x301f) || c == 0xff02;
}

std::string replace_invalid(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto from = at;
    if (next_code_point(text, at) < 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(from, at - from);
    }
  }
  return out;
}

/// Characters that steer a terminal, change the order of what is shown, or are not seen at all. Not the variation
/// selectors U+FE00 to U+FE0F, which many emoji are written with.
bool is_steering(std::int32_t c) {
  struct Range {
    std::int32_t first, last;
  };
  static constexpr std::array<Range, 18> ranges{{{0x00, 0x1f},
                                                 {0x7f, 0x9f},
                                                 {0xad, 0xad},
                                                 {0x34f, 0x34f},
                                                 {0x61c, 0x61c},
                                                 {0x115f, 0x1160},
                                                 {0x17b4, 0x17b5},
                                                 {0x180b, 0x180f},
                                                 {0x200b, 0x200f},
                                                 {0x2028, 0x202e},
                                                 {0x2060, 0x206f},
                                                 {0x3164, 0x3164},
                                                 {0xfeff, 0xfeff},
                                                 {0xffa0, 0xffa0},
                                                 {0xfff9, 0xfffb},
                                                 {0x1bca0, 0x1bca3},
                                                 {0x1d173, 0x1d17a},
                                                 {0xe0000, 0xe0fff}}};
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& r) { return r.first <= c && c <= r.last; });
}

using Mapped = std::unique_ptr<utf8proc_uint8_t, decltype(&free)>;

std::string normalized(std::string text) {
  utf8proc_uint8_t* folded = nullptr;
  // Twice: case folding may leave a sequence that is no longer normalized, and the other way round.
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
  for (int round = 0; round < 2; ++round) {
    const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                static_cast<utf8proc_ssize_t>(text.size()), &folded, options);
    const Mapped owned(n >= 0 ? folded : nullptr, &free);
    if (n < 0) break;
    text.assign(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(n));
  }
  return text;
}

/// Canonical composition or decomposition of valid UTF-8.
std::string composed(const std::string& text, utf8proc_option_t how) {
  utf8proc_uint8_t* out = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &out, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | how));
  const Mapped owned(n >= 0 ? out : nullptr, &free);
  return n < 0 ? text : std::string(reinterpret_cast<const char*>(out), static_cast<std::size_t>(n));
}

bool is_accent(std::int32_t c) {
  return (c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) || (c >= 0x1dc0 && c <= 0x1dff);
}

bool is_latin_or_greek(std::int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 0xc0 && c <= 0x24f) || (c >= 0x1e00 && c <= 0x1fff) ||
         (c >= 0x370 && c <= 0x3ff);
}

/// What people type for a letter that no accent makes; empty: itself.
std::string_view plain_letter(std::int32_t c) {
  static constexpr std::array<std::pair<std::int32_t, std::string_view>, 11> letters{{{0xe6, "ae"},
                                                                                      {0xf0, "d"},
                                                                                      {0xf8, "o"},
                                                                                      {0xfe, "th"},
                                                                                      {0x111, "d"},
                                                                                      {0x127, "h"},
                                                                                      {0x131, "i"},
                                                                                      {0x142, "l"},
                                                                                      {0x153, "oe"},
                                                                                      {0x167, "t"},
                                                                                      {0x19b, "l"}}};
  const auto* const at = std::find_if(letters.begin(), letters.end(), [c](const auto& one) { return one.first == c; });
  return at == letters.end() ? std::string_view() : at->second;
}

/// Of a decomposed text.
std::string accents_left_out(std::string_view text) {
  constexpr std::int32_t cyrillic_ie = 0x435, diaeresis = 0x308;
  std::string out;
  std::int32_t base = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto from = at;
    const auto c = next_code_point(text, at);
    if (c == 0xfe0e || c == 0xfe0f) continue;
    if (is_accent(c)) {
      if (is_latin_or_greek(base) || (base == cyrillic_ie && c == diaeresis)) continue;
    } else {
      base = c;
    }
    const auto plain = plain_letter(c);
    out += plain.empty() ? text.substr(from, at - from) : plain;
  }
  return out;
}

/// Without NUL.
void fold_part(std::string_view part, std::string& out) {
  if (!is_plain(part)) {
    auto text = normalized(is_valid_utf8(part) ? std::string(part) : replace_invalid(part));
    std::erase(text, '\0');
    out += text;
    return;
  }
  for (const char c : part) {
    if (c != '\0') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
}

}  // namespace

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
    } else if (next_code_point(text, at) < 0) {
      return false;
    }
  }
  return true;
}

std::size_t replace_odd_text(std::string& text) {
  if (text.find('\0') == std::string::npos && is_valid_utf8(text)) return 0;
  std::size_t count = 0;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto from = at;
    if (next_code_point(text, at) > 0) {
      out.append(text, from, at - from);
    } else {
      out += "\xEF\xBF\xBD";
      ++count;
    }
  }
  text = std::move(out);
  return count;
}

std::string undisguised(std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) return std::string(text);
  const auto valid = is_valid_utf8(text) ? std::string(text) : replace_invalid(text);
  utf8proc_uint8_t* plain = nullptr;
  const auto n = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(valid.data()), static_cast<utf8proc_ssize_t>(valid.size()), &plain,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE));
  const Mapped owned(n >= 0 ? plain : nullptr, &free);
  return n < 0 ? valid : std::string(reinterpret_cast<const char*>(plain), static_cast<std::size_t>(n));
}

std::string fold(std::string_view text, bool keep_separators) {
  std::string out;
  out.reserve(text.size());
  // Part by part, for no character of one changes with those of another.
  for (;;) {
    const auto end = text.find('\x1f');
    fold_part(text.substr(0, end), out);
    if (end == std::string_view::npos) return out;
    if (keep_separators) out += '\x1f';
    text.remove_prefix(end + 1);
  }
}

std::string without_accents(std::string_view folded) {
  if (is_plain(folded)) return std::string(folded);
  return composed(accents_left_out(composed(std::string(folded), UTF8PROC_DECOMPOSE)), UTF8PROC_COMPOSE);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto from = at;
    const auto c = next_code_point(text, at);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[from]));
    } else if (is_steering(c)) {
      out += c < 0x100     ? fmt::format("\\x{:02x}", c)
             : c < 0x10000 ? fmt::format("\\u{:04x}", c)
                           : fmt::format("\\U{:08x}", c);
    } else {
      out += text.substr(from, at - from);
    }
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const auto end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string plain_line(std::string_view text) {
  std::string out;
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto from = at;
    const auto c = next_code_point(text, at);
    if (is_white_space(c)) {
      space = !out.empty();
      continue;
    }
    if (c < 0 || is_steering(c)) continue;
    if (std::exchange(space, false)) out += ' ';
    if (is_double_quote(c)) {
      out += '\'';
    } else {
      out += text.substr(from, at - from);
    }
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  // OpenSSL's uses what the processor has for it: every request's key and every write's content is hashed.
  static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> sha256(EVP_MD_fetch(nullptr, "SHA256", nullptr),
                                                                      EVP_MD_free);
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, 32> hash{};
  if (!sha256 || !context || EVP_DigestInit_ex2(context.get(), sha256.get(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), hash.data(), nullptr) != 1)
    throw std::bad_alloc();
  std::array<char, hash.size() * 2 + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return hex.data();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  if (text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '+' || c == '/'); });
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || sodium_memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace krux
