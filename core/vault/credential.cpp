#include "core/vault/credential.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace krux {
namespace {

constexpr std::string_view kVersion = "1:";
constexpr std::size_t kTexts = 8, kMostBytes = 64 << 10;

using Texts = std::array<std::string_view, kTexts>;

Texts texts_of(const Credential& c) {
  return {c.access_token.reveal(),
          c.refresh_token.reveal(),
          c.previous_refresh_token.reveal(),
          c.client_secret.reveal(),
          c.client_id,
          c.token_url,
          c.revoke_url,
          c.token_at};
}

/// Takes "<length>:<bytes>" off.
std::optional<std::string_view> take(std::string_view& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  if (length > text.size()) return std::nullopt;
  const auto taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

}  // namespace

Secret copy_of(const Secret& secret) {
  return Secret(secret.reveal());
}

Credential copy_of(const Credential& c) {
  return {copy_of(c.access_token),
          copy_of(c.refresh_token),
          copy_of(c.previous_refresh_token),
          copy_of(c.client_secret),
          c.client_id,
          c.token_url,
          c.revoke_url,
          c.token_at};
}

Secret credential_text(const Credential& credential) {
  const auto texts = texts_of(credential);
  std::size_t size = kVersion.size();
  for (const auto text : texts) size += std::to_string(text.size()).size() + 1 + text.size();
  Secret all(size);
  char* at = all.bytes();
  const auto put = [&at](std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    at += bytes.size();
  };
  put(kVersion);
  for (const auto text : texts) {
    put(std::to_string(text.size()));
    put(":");
    put(text);
  }
  return all;
}

std::optional<Credential> parse_credential(std::string_view text) {
  if (!text.starts_with(kVersion) || text.size() > kMostBytes) return std::nullopt;
  text.remove_prefix(kVersion.size());
  Texts texts;
  for (auto& part : texts) {
    const auto taken = take(text);
    if (!taken) return std::nullopt;
    part = *taken;
  }
  if (!text.empty() || texts[0].empty()) return std::nullopt;
  return Credential{Secret(texts[0]),      Secret(texts[1]),      Secret(texts[2]),
                    Secret(texts[3]),      std::string(texts[4]), std::string(texts[5]),
                    std::string(texts[6]), std::string(texts[7]), 0};
}

std::optional<Secret> parse_access_token(std::string_view text) {
  if (!text.starts_with(kVersion)) return std::nullopt;
  text.remove_prefix(kVersion.size());
  const auto taken = take(text);
  if (!taken || taken->empty()) return std::nullopt;
  return Secret(*taken);
}

}  // namespace krux
