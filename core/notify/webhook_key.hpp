// How the outgoing webhook is signed: as Standard Webhooks has it, for which receivers find libraries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/vault/secret.hpp"

namespace krux {

/// Of HMAC-SHA256. Any thread.
class WebhookKey {
 public:
  /// `text`: "whsec_" and 24 to 64 bytes in Base64. Throws ConfigError.
  explicit WebhookKey(const Secret& text);

  /// "v1,<Base64>", over "<id>.<seconds>.<body>".
  std::string sign(std::string_view id, std::int64_t unix_seconds, std::string_view body) const;

 private:
  Secret key_;
};

/// Of the file (0600), which is made with a new key where there is none. Throws ConfigError.
WebhookKey open_webhook_key(const std::filesystem::path& file);

}  // namespace krux
