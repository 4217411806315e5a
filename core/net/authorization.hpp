// What a request carries of an account's token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/definition/access.hpp"
#include "core/net/http.hpp"
#include "core/net/secret.hpp"
#include "core/net/url.hpp"

namespace krux {

/// A secret on its way into a request, which is written into wiped memory alone. Borrowed for the exchange.
struct RequestSecret {
  RequestSecret() = default;
  RequestSecret(std::string_view authorization) : value(authorization) {}
  RequestSecret(const char* authorization) : value(authorization) {}
  RequestSecret(const std::string& authorization) : value(authorization) {}

  std::string_view value;  ///< of the header, or the parameter's, percent-encoded; empty: nothing is carried
  std::string_view header = "Authorization";
  std::string_view parameter;  ///< not empty: it stands in the query under this name, and in no header
};

/// Its memory is wiped.
struct Authorization {
  SecretBytes value;
  std::string header, parameter;
  RequestSecret secret() const;
};

/// `user`: of AuthDefinition::user, where it names one. Nothing where such a token cannot stand there.
std::optional<Authorization> authorization_of(const AuthDefinition& auth, std::string_view user,
                                              std::string_view token);

/// Why a request may not name by itself what carries the token; empty where it does not.
std::string why_not_own_credential(const AuthDefinition& auth, const HttpHeaders& headers, const Url& url);

/// Takes the token out of an answer: of services that write the addresses of the next page with the key in them, or
/// that repeat what they were sent. No adapter is handed one, whatever its service says.
class KeyRemovingSink final : public HttpSink {
 public:
  /// `carried`: as the request had it; `token`: as the account has it.
  KeyRemovingSink(HttpSink& receiver, const Authorization& carried, std::string_view token);

  bool head(int status, const HttpHeaders& headers) override;
  bool body(std::string_view bytes) override;
  /// The end of the answer: what was held back. False: the receiver said stop.
  bool finish();

 private:
  struct Needle {
    SecretBytes text;
    std::string_view instead;
  };
  std::size_t first_open() const;
  /// Takes what is certain off the front of `held_`; all of it at the end.
  std::string without_key(bool at_end);

  HttpSink& receiver_;
  std::vector<Needle> needles_;  ///< the longest first
  std::string held_;
};

}  // namespace krux
