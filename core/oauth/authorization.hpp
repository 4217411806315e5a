// The way to the service and back through the operator's browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/definition/oauth_definition.hpp"
#include "core/vault/secret.hpp"

namespace krux {

inline constexpr std::string_view kCallbackPath = "/oauth/callback";

struct AuthorizationRequest {
  std::string client_id, redirect_uri;
  std::vector<std::string> scopes;
  std::string_view state, verifier;  ///< the verifier is not looked at in flows without PKCE
};

/// What the browser is to open.
std::string authorize_address(const OAuthFlow& flow, const AuthorizationRequest& request);

/// What the browser brought back.
struct Callback {
  enum class Kind {
    kCode,
    kDenied,   ///< the service says so, or says why it could not ask
    kForeign,  ///< another path
    kBad,      ///< our path, with a query that no service would send
  };
  Kind kind = Kind::kBad;
  Secret code;          ///< with kCode
  Secret state;         ///< with kCode and kDenied; may be empty
  std::string message;  ///< otherwise: a sentence, printable
};

/// `target` is a request's target ("/oauth/callback?code=..."): any bytes. Never throws.
Callback parse_callback(std::string_view target, std::string_view path = kCallbackPath);

/// The target of a whole address, as an operator pastes it; empty where it is none. Never throws.
std::string_view target_of_address(std::string_view address);

}  // namespace krux
