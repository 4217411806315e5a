#include "core/util/keyed_hash.hpp"

#include <sodium.h>

#include <array>
#include <cstring>

namespace krux {
namespace {

using HashKey = std::array<unsigned char, crypto_shorthash_KEYBYTES>;

const HashKey& hash_key() {
  static const HashKey key = [] {
    HashKey made{};
    if (sodium_init() >= 0) crypto_shorthash_keygen(made.data());
    return made;
  }();
  return key;
}

}  // namespace

std::size_t KeyedHash::operator()(std::string_view text) const {
  std::array<unsigned char, crypto_shorthash_BYTES> hash{};
  crypto_shorthash(hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash_key().data());
  std::size_t value = 0;
  static_assert(sizeof value == hash.size());
  std::memcpy(&value, hash.data(), sizeof value);
  return value;
}

}  // namespace krux
