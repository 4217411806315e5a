#include "core/notify/webhook_key.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <cstring>

#include "core/util/error.hpp"
#include "core/vault/key_file.hpp"

namespace krux {
namespace {

constexpr std::string_view kKeyPrefix = "whsec_";
constexpr std::size_t kLeastBytes = 24, kNewBytes = 32, kMostBytes = 64;
constexpr std::size_t kLongestText = 128;

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Secret new_key_text() {
  Secret bytes(kNewBytes);
  randombytes_buf(bytes.bytes(), bytes.size());
  const auto encoded = sodium_base64_encoded_len(kNewBytes, sodium_base64_VARIANT_ORIGINAL);  // its NUL included
  Secret text(kKeyPrefix.size() + encoded);
  std::memcpy(text.bytes(), kKeyPrefix.data(), kKeyPrefix.size());
  sodium_bin2base64(text.bytes() + kKeyPrefix.size(), encoded, unsigned_bytes(bytes.reveal()), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.bytes()[text.size() - 1] = '\n';
  return text;
}

}  // namespace

WebhookKey::WebhookKey(const Secret& text) {
  const auto shown = text.reveal();
  std::size_t size = 0;
  Secret bytes(kLongestText);
  const auto encoded = shown.starts_with(kKeyPrefix) ? shown.substr(kKeyPrefix.size()) : std::string_view();
  const int result = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.bytes()), bytes.size(), encoded.data(),
                                       encoded.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (result != 0 || size < kLeastBytes || size > kMostBytes)
    throw ConfigError(fmt::format("is no secret of a webhook: one line is expected, {} and {} to {} bytes in Base64.",
                                  kKeyPrefix, kLeastBytes, kMostBytes));
  key_ = Secret(bytes.reveal().substr(0, size));
}

std::string WebhookKey::sign(std::string_view id, std::int64_t unix_seconds, std::string_view body) const {
  const auto head = fmt::format("{}.{}.", id, unix_seconds);
  crypto_auth_hmacsha256_state state;
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> mac{};
  crypto_auth_hmacsha256_init(&state, unsigned_bytes(key_.reveal()), key_.size());
  crypto_auth_hmacsha256_update(&state, unsigned_bytes(head), head.size());
  crypto_auth_hmacsha256_update(&state, unsigned_bytes(body), body.size());
  crypto_auth_hmacsha256_final(&state, mac.data());
  sodium_memzero(&state, sizeof state);
  std::string encoded(sodium_base64_encoded_len(mac.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(encoded.data(), encoded.size(), mac.data(), mac.size(), sodium_base64_VARIANT_ORIGINAL);
  encoded.pop_back();
  return "v1," + encoded;
}

WebhookKey open_webhook_key(const std::filesystem::path& file) {
  auto text = read_secret_line(file, kLongestText);
  if (!text) {
    create_secret_line(file, new_key_text());
    text = read_secret_line(file, kLongestText);
  }
  try {
    return WebhookKey(*text);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("The file {} of webhook.secret_file {}", file.string(), error.what()));
  }
}

}  // namespace krux
