// How a service's requests are made, besides its address: what carries the token, what each account may have of its
// own, and which POSTs only read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// What of a request says whose it is.
struct AuthDefinition {
  enum class Way { kHeader, kBasic, kQuery, kNone };  ///< kNone: the service needs no token
  Way way = Way::kHeader;
  std::string name = "Authorization";  ///< of the header, or of the query's parameter
  std::string scheme = "Bearer";       ///< kHeader: the word before the token; empty: the token alone
  std::string user;  ///< kBasic: the account's setting that holds the user; empty: the token is "user:password"
};

/// What the operator says of an account when it is connected. Not secret.
struct AccountSetting {
  std::string name, description;
  bool required = false;
  std::vector<std::string> one_of;  ///< empty: any
};

/// What accounts may have of their own.
struct AccountTerms {
  enum class BaseUrl { kNo, kOptional, kRequired };
  BaseUrl base_url = BaseUrl::kNo;
  std::string base_url_description;
  std::vector<std::string> base_hosts;  ///< where it may lie: "*.example.com"; empty: wherever the operator says
  std::vector<AccountSetting> settings;

  const AccountSetting* find(std::string_view name) const;
};

const char* to_string(AccountTerms::BaseUrl base_url);  ///< "no", "optional", "required"

/// A POST that only reads, where the adapter marks it as such.
struct SafePost {
  std::string path;      ///< glob over the path relative to the base address
  bool graphql = false;  ///< the host reads the document, and takes queries alone
};

}  // namespace krux
