// The `oauth:` section of a definition: how an account is authorized at its service. docs/oauth.md tells the story.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace krux {

/// One way to authorize; a service may have several, which differ in the kind of app that they need.
struct OAuthFlow {
  enum class ClientSecret { kRequired, kOptional, kNone };
  std::string name, description;
  std::string authorize_url, token_url;  ///< https, or http to a literal loopback address; without a query
  bool pkce = true;
  ClientSecret client_secret = ClientSecret::kOptional;
  std::string scope_parameter = "scope", scope_separator = " ";
  std::vector<std::pair<std::string, std::string>> authorize_parameters;
  std::string token_at;                     ///< member of the answer that holds the tokens; empty: the answer itself
  std::vector<std::string> token_types;     ///< accepted besides "Bearer", in any case
  bool any_port = true;                     ///< the redirect address may have any port
  std::string redirect_host = "127.0.0.1";  ///< or "localhost"
  std::string redirect_uri;  ///< https: nobody listens there, the browser's last address is pasted; empty: a listener
};

/// How much an account is connected for.
struct OAuthProfile {
  std::string name, description;
  std::vector<std::string> scopes;
  std::vector<std::string> without;  ///< capabilities that such an account does not have, whatever its scopes allow
};

struct OAuthDefinition {
  std::uint16_t callback_port = 0;  ///< 0: any free one
  std::string revoke_url;           ///< RFC 7009; empty: the adapter revokes
  std::vector<OAuthFlow> flows;     ///< the first one is the default; none: the service is not connected by OAuth
  std::vector<OAuthProfile> profiles;
  std::string default_profile;
  std::map<std::string, std::vector<std::string>> implied_scopes;  ///< what a granted scope includes
  std::string help;  ///< for people; {redirect_uri}, {scopes} and {service} are filled in

  const OAuthFlow* find_flow(const std::string& name) const;
  const OAuthProfile* find_profile(const std::string& name) const;
};

}  // namespace krux
