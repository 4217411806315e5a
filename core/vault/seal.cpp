#include "core/vault/seal.hpp"

#include <fmt/format.h>
#include <sodium.h>

namespace krux {
namespace {

constexpr std::size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// Lengths before the texts: ("ab", "c") and ("a", "bc") must differ.
std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out += fmt::format("{}:{}", text.size(), text);
  return out;
}

}  // namespace

std::string seal(const Secret& key, std::string_view text, const std::vector<std::string>& belongs_to) {
  const auto bound = joined(belongs_to);
  std::string out(kNonce + text.size() + kTag, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  randombytes_buf(bytes, kNonce);
  crypto_aead_xchacha20poly1305_ietf_encrypt(bytes + kNonce, nullptr, raw(text), text.size(), raw(bound), bound.size(),
                                             nullptr, bytes, raw(key.reveal()));
  return out;
}

std::optional<Secret> open_sealed(const Secret& key, std::string_view sealed,
                                  const std::vector<std::string>& belongs_to) {
  if (sealed.size() < kNonce + kTag) return std::nullopt;
  const auto bound = joined(belongs_to);
  Secret text(sealed.size() - kNonce - kTag);
  const int result = crypto_aead_xchacha20poly1305_ietf_decrypt(
      reinterpret_cast<unsigned char*>(text.bytes()), nullptr, nullptr, raw(sealed) + kNonce, sealed.size() - kNonce,
      raw(bound), bound.size(), raw(sealed), raw(key.reveal()));
  if (result != 0) return std::nullopt;
  return text;
}

}  // namespace krux
