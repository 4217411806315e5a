#include "emulators/gmail/codec.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/util/text.hpp"
#include "emulators/common/text.hpp"

namespace krux::test::gmail {
namespace {

using emulator::hex_digit;

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::array<signed char, 256> make_values() {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<signed char>(i);
  }
  values['+'] = 62;
  values['/'] = 63;
  return values;
}

int value_of(char c) {
  static const std::array<signed char, 256> values = make_values();
  return values[static_cast<unsigned char>(c)];
}

class Bits {
 public:
  explicit Bits(std::size_t expected) { bytes_.reserve(expected); }
  void add(int six) {
    held_ = (held_ << 6) | static_cast<std::uint32_t>(six);
    count_ += 6;
    if (count_ < 8) return;
    count_ -= 8;
    bytes_ += static_cast<char>((held_ >> count_) & 0xff);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::uint32_t held_ = 0;
  int count_ = 0;
};

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// How long the well-formed character at the front is; 0: there is none.
std::size_t utf8_length(std::string_view text) {
  const unsigned char lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  return length != 0 && length <= text.size() && is_valid_utf8(text.substr(0, length)) ? length : 0;
}

std::string repaired(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      append_utf8(out, 0xfffd);
    else
      out.append(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

constexpr unsigned kWindows[32] = {0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                   0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
                                   0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                   0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};

}  // namespace

std::string encode_base64url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = static_cast<unsigned char>(bytes[i]) << 16;
    if (left > 1) group |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8;
    if (left > 2) group |= static_cast<unsigned char>(bytes[i + 2]);
    for (std::size_t k = 0; k < 4; ++k) text += k <= left ? kAlphabet[(group >> (18 - 6 * k)) & 63] : '=';
  }
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  Bits bits(text.size() / 4 * 3 + 3);
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    bits.add(value);
  }
  return bits.take();
}

std::string decode_base64(std::string_view text) {
  Bits bits(text.size() / 4 * 3 + 3);
  for (const char c : text) {
    if (value_of(c) >= 0 && c != '-' && c != '_') bits.add(value_of(c));
  }
  return bits.take();
}

std::string decode_quoted_printable(std::string_view text, bool as_word) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (as_word && text[i] == '_') {
      out += ' ';
    } else if (text[i] != '=') {
      out += text[i];
    } else if (i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else if (i + 1 < text.size() && text[i + 1] == '\n') {
      i += 1;
    } else if (i + 2 < text.size() && text[i + 1] == '\r' && text[i + 2] == '\n') {
      i += 2;
    } else {
      out += '=';
    }
  }
  return out;
}

std::string format_id(std::uint64_t id) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[(id >> (4 * i)) & 15];
  return text;
}

std::optional<std::uint64_t> parse_id(std::string_view id) {
  if (id.empty() || id.size() > 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : id) {
    if (hex_digit(c) < 0 || (c >= 'A' && c <= 'F')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(hex_digit(c));
  }
  return value;
}

std::string to_utf8(std::string_view bytes, std::string_view charset) {
  const std::string name = emulator::lower(std::string(charset));
  if (name.empty() || name == "utf-8" || name == "utf8" || name == "us-ascii") return repaired(bytes);
  std::string out;
  for (const char c : bytes) {
    const unsigned code = static_cast<unsigned char>(c);
    append_utf8(out, name == "windows-1252" && code >= 0x80 && code < 0xa0 ? kWindows[code - 0x80] : code);
  }
  return out;
}

std::string format_date(std::int64_t ms) {
  const time_t seconds = static_cast<time_t>(ms / 1000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S +0000", &parts);
  return text;
}

std::optional<std::int64_t> parse_date(std::string_view text) {
  std::string wanted(text.substr(0, 200));
  const std::size_t comma = wanted.find(',');
  if (comma != std::string::npos) wanted.erase(0, comma + 1);
  tm parts{};
  const char* rest = strptime(wanted.c_str(), " %d %b %Y %H:%M:%S", &parts);
  if (!rest) return std::nullopt;
  std::int64_t seconds = timegm(&parts);
  while (*rest == ' ') ++rest;
  if (*rest == '+' || *rest == '-') {
    const int zone = std::atoi(rest + 1);
    seconds += (*rest == '-' ? 1 : -1) * (zone / 100 * 3600 + zone % 100 * 60);
  }
  return seconds * 1000;
}

}  // namespace krux::test::gmail
