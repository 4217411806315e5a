#include "core/audit/signing_key.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>

#include "core/vault/key_file.hpp"

namespace krux {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string hex_of(const unsigned char* bytes, std::size_t size) {
  std::string hex(2 * size + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes, size);
  hex.pop_back();
  return hex;
}

template <std::size_t kSize>
bool from_hex(std::string_view hex, std::array<unsigned char, kSize>& bytes) {
  std::size_t size = 0;
  return hex.size() == 2 * kSize &&
         sodium_hex2bin(bytes.data(), bytes.size(), hex.data(), hex.size(), nullptr, &size, nullptr) == 0 &&
         size == kSize;
}

}  // namespace

SigningKey::SigningKey(const Secret& seed) : secret_(std::size_t{crypto_sign_SECRETKEYBYTES}) {
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> public_key{};
  crypto_sign_seed_keypair(public_key.data(), reinterpret_cast<unsigned char*>(secret_.bytes()),
                           bytes_of(seed.reveal()));
  public_hex_ = hex_of(public_key.data(), public_key.size());
}

std::string SigningKey::sign(std::string_view message) const {
  std::array<unsigned char, crypto_sign_BYTES> signature{};
  crypto_sign_detached(signature.data(), nullptr, bytes_of(message), message.size(), bytes_of(secret_.reveal()));
  return hex_of(signature.data(), signature.size());
}

bool is_signed_by(std::string_view public_hex, std::string_view message, std::string_view signature_hex) {
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key{};
  std::array<unsigned char, crypto_sign_BYTES> signature{};
  return from_hex(public_hex, key) && from_hex(signature_hex, signature) &&
         crypto_sign_verify_detached(signature.data(), bytes_of(message), message.size(), key.data()) == 0;
}

SigningKey open_signing_key(const std::filesystem::path& file, const std::string& in_force) {
  if (const auto staged = read_key_file(staged_key_file(file))) {
    if (SigningKey key(*staged); key.public_hex() == in_force) {
      adopt_staged_key_file(file);
      return key;
    }
    remove_key_file(staged_key_file(file));
  }
  if (const auto seed = read_key_file(file)) return SigningKey(*seed);
  return SigningKey(create_key_file(file));
}

std::string signed_head(std::string_view log_id, std::int64_t seq, std::string_view hash_hex, std::int64_t at_ms) {
  return fmt::format("kruxos audit head 1\n{}\n{}\n{}\n{}\n", log_id, seq, hash_hex, at_ms);
}

std::string signed_cut(std::string_view log_id, std::int64_t through, std::string_view hash_hex) {
  return fmt::format("kruxos audit cut 1\n{}\n{}\n{}\n", log_id, through, hash_hex);
}

std::string signed_key(std::string_view log_id, std::string_view public_hex) {
  return fmt::format("kruxos audit key 1\n{}\n{}\n", log_id, public_hex);
}

}  // namespace krux
