#include "core/oauth/pkce.hpp"

#include <sodium.h>

#include <array>

namespace krux {
namespace {

constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
constexpr std::size_t kRandomBytes = 32;

const unsigned char* bytes_of_text(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes_of_text(bytes), bytes.size(), kVariant);
  text.pop_back();  // the NUL behind it
  return text;
}

Secret random_text() {
  Secret bytes(kRandomBytes);
  randombytes_buf(bytes.bytes(), bytes.size());
  Secret encoded(sodium_base64_ENCODED_LEN(kRandomBytes, kVariant));
  sodium_bin2base64(encoded.bytes(), encoded.size(), bytes_of_text(bytes.reveal()), bytes.size(), kVariant);
  return Secret(encoded.reveal().substr(0, encoded.size() - 1));
}

std::string challenge_of(std::string_view verifier) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), bytes_of_text(verifier), verifier.size());
  return base64url({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

}  // namespace krux
