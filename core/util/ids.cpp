#include "core/util/ids.hpp"

#include <sodium.h>

#include <array>
#include <charconv>

namespace krux {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";

std::string id_of(std::string_view prefix, std::int64_t wall_ms, std::optional<std::int64_t> counter) {
  std::array<unsigned char, 16> b{};
  randombytes_buf(b.data(), b.size());
  for (std::size_t i = 0; i < 6; ++i) b[i] = static_cast<unsigned char>(wall_ms >> (40 - 8 * i));
  if (counter) {
    b[6] = static_cast<unsigned char>(*counter >> 8);
    b[7] = static_cast<unsigned char>(*counter);
  }
  b[6] = static_cast<unsigned char>(0x70 | (b[6] & 0x0f));
  b[8] = static_cast<unsigned char>(0x80 | (b[8] & 0x3f));
  std::string id;
  id.reserve(prefix.size() + 36);
  id = prefix;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
    id += kHex[b[i] >> 4];
    id += kHex[b[i] & 0x0f];
  }
  return id;
}

}  // namespace

std::string make_id(std::string_view prefix, std::int64_t wall_ms) {
  return id_of(prefix, wall_ms, std::nullopt);
}

std::string make_ordered_id(std::string_view prefix, std::int64_t order) {
  return id_of(prefix, order >> 12, order & 0xfff);
}

std::optional<std::int64_t> order_of_id(std::string_view prefix, std::string_view id) {
  if (!is_id(prefix, id)) return std::nullopt;
  id.remove_prefix(prefix.size());
  std::uint64_t order = 0;
  for (const auto part : {id.substr(0, 8), id.substr(9, 4), id.substr(15, 3)}) {
    std::uint64_t bits = 0;
    std::from_chars(part.data(), part.data() + part.size(), bits, 16);
    order = (order << (4 * part.size())) | bits;
  }
  return static_cast<std::int64_t>(order);
}

bool is_id(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix) || text.size() != prefix.size() + 36) return false;
  text.remove_prefix(prefix.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

std::string random_hex(std::size_t count) {
  std::string raw(count, '\0'), hex(count * 2 + 1, '\0');
  randombytes_buf(raw.data(), raw.size());
  sodium_bin2hex(hex.data(), hex.size(), reinterpret_cast<const unsigned char*>(raw.data()), raw.size());
  sodium_memzero(raw.data(), raw.size());
  hex.pop_back();
  return hex;
}

}  // namespace krux
