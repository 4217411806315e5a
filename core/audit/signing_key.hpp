// The key by which the host gives its word about its audit log: Ed25519 (RFC 8032).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/vault/secret.hpp"

namespace krux {

class SigningKey {
 public:
  explicit SigningKey(const Secret& seed);  ///< of 32 bytes

  const std::string& public_hex() const { return public_hex_; }  ///< 64 hexadecimal digits
  std::string sign(std::string_view message) const;              ///< 128 hexadecimal digits

 private:
  Secret secret_;
  std::string public_hex_;
};

/// False also for what is no key or no signature.
bool is_signed_by(std::string_view public_hex, std::string_view message, std::string_view signature_hex);

/// Of the file (0600), which is made where there is none. Where another key was staged beside it by a rotation that a
/// kill ended, and `in_force` is that one, it is put into its place. Throws ConfigError.
SigningKey open_signing_key(const std::filesystem::path& file, const std::string& in_force);

// What is signed.
std::string signed_head(std::string_view log_id, std::int64_t seq, std::string_view hash_hex, std::int64_t at_ms);
std::string signed_cut(std::string_view log_id, std::int64_t through, std::string_view hash_hex);
std::string signed_key(std::string_view log_id, std::string_view public_hex);

}  // namespace krux
