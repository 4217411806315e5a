#include "core/metrics/account_label.hpp"

#include <sodium.h>

#include <array>
#include <string_view>

namespace krux {

std::string account_label(const std::string& account_id) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr std::size_t longest = 64, shown_bytes = 6;
  if (account_id.size() <= longest && account_id.find_first_not_of(plain) == std::string::npos) return account_id;
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(account_id.data()), account_id.size());
  std::array<char, 2 * shown_bytes + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), shown_bytes);
  return std::string("id-") + hex.data();
}

}  // namespace krux
