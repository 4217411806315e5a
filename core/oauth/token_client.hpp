// Requests to a service's token address: code for tokens, refreshing, revoking.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/account/account_ref.hpp"
#include "core/definition/oauth_definition.hpp"
#include "core/net/http_transport.hpp"
#include "core/oauth/token_answer.hpp"
#include "core/vault/credential.hpp"

namespace krux {

/// What the browser's way came to.
struct CodeGrant {
  const OAuthFlow& flow;
  std::string token_url, redirect_uri, client_id;
  const Secret& code;
  const Secret& verifier;       ///< not looked at in flows without PKCE
  const Secret& client_secret;  ///< empty: none is sent
};

/// Blocking, any thread. Requests go to the one address that is given, follow no redirect, and carry secrets in wiped
/// memory; no message of an outcome holds one.
class TokenClient {
 public:
  TokenClient(std::shared_ptr<HttpTransport> transport, Clock& clock)
      : transport_(std::move(transport)), clock_(clock) {}

  TokenResult exchange_code(const std::string& service, const CodeGrant& grant);
  /// With `refresh_token` instead of the credential's own.
  TokenResult refresh(const AccountRef& account, const Credential& credential, const Secret& refresh_token);
  /// RFC 7009, at the credential's revoke_url, of the refresh token and the access token: nothing when the service has
  /// forgotten the tokens, else why not, a sentence.
  std::optional<std::string> revoke(const AccountRef& account, const Credential& credential);

 private:
  struct Answer;
  std::optional<std::string> revoke_one(const AccountRef& account, const Credential& credential, const Secret& token,
                                        const char* kind);
  Answer post(const AccountRef& account, const std::string& url, const SecretBytes& form);

  const std::shared_ptr<HttpTransport> transport_;
  Clock& clock_;
};

}  // namespace krux
