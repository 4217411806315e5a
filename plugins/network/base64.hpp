// Bytes as Base64, RFC 4648 with padding.
#pragma once
#include <string>
#include <string_view>

namespace network {

inline std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto part = bytes.substr(at, 3);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
    for (unsigned i = 0; i < 4; ++i) out += i <= part.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

}  // namespace network
