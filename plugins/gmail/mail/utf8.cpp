#include "utf8.hpp"

#include <utility>

namespace gmail {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr char32_t kInvalid = 0xffffffff;

/// The character at `at`, which moves behind it; kInvalid where its bytes are no UTF-8.
char32_t next(std::string_view text, std::size_t& at) {
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
bool take_printable(std::string_view text, std::size_t& at, std::string& out) {
  auto end = at;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x7f) ++end;
  out.append(text.substr(at, end - at));
  return std::exchange(at, end) != end;
}

bool turns_direction(char32_t c) {
  return c == 0x061c || (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (next(text, at) == kInvalid) return false;
  }
  return true;
}

void append_utf8(std::string& out, char32_t c) {
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

std::string clean_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    if (take_printable(bytes, at, out)) continue;
    const auto from = at;
    const auto c = next(bytes, at);
    if (c == kInvalid) {
      append_utf8(out, kReplacement);
    } else if (c != 0) {
      out.append(bytes.substr(from, at - from));
    }
  }
  return out;
}

std::string clean_line(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    if (take_printable(bytes, at, out)) continue;
    const auto from = at;
    const auto c = next(bytes, at);
    if (c == kInvalid) {
      append_utf8(out, kReplacement);
    } else if (c == 0 || turns_direction(c)) {
      continue;
    } else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029) {
      out += ' ';
    } else {
      out.append(bytes.substr(from, at - from));
    }
  }
  return out;
}

bool cut_text(std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return false;
  while (most_bytes > 0 && (static_cast<unsigned char>(text[most_bytes]) & 0xc0U) == 0x80) --most_bytes;
  text.resize(most_bytes);
  return true;
}

}  // namespace gmail
