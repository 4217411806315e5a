// What the vault keeps of a connection: an access token, and what it takes to get the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/vault/secret.hpp"

namespace krux {

/// A token that was pasted has an access token alone.
struct Credential {
  Secret access_token;
  Secret refresh_token;           ///< empty: the access token is not refreshed
  Secret previous_refresh_token;  ///< the one that brought the present one; empty: there was none
  Secret client_secret;           ///< empty: the client has none
  std::string client_id;
  std::string token_url;             ///< the only address that the refresh token is sent to
  std::string revoke_url;            ///< empty: the adapter revokes
  std::string token_at;              ///< as OAuthFlow::token_at
  std::int64_t connected_at_ms = 0;  ///< of the connection that it was read from; no part of what is stored

  bool is_plain() const { return client_id.empty() && refresh_token.empty(); }
};

/// A copy, in memory of its own.
Secret copy_of(const Secret& secret);
Credential copy_of(const Credential& credential);

/// The texts of the credential one behind another, each with its length, the access token first.
Secret credential_text(const Credential& credential);
/// Nothing when `text` was not made by credential_text().
std::optional<Credential> parse_credential(std::string_view text);
/// The access token alone.
std::optional<Secret> parse_access_token(std::string_view text);

}  // namespace krux
