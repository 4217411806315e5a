// What a service's token address answers. Everything in it is distrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/net/secret.hpp"
#include "core/vault/secret.hpp"

namespace krux {

inline constexpr std::size_t kLargestTokenAnswer = 64 << 10;

struct TokenAnswer {
  Secret access_token;
  Secret refresh_token;                            ///< empty: none was given
  std::optional<std::int64_t> expires_in_ms;       ///< nothing: it does not say
  std::optional<std::vector<std::string>> scopes;  ///< nothing: it does not say
};

struct TokenFailure {
  bool for_good = false;  ///< the same request will always be refused
  std::string error;      ///< the service's word, letters, digits and `_.-` alone; empty where it has none
  std::string message;    ///< a sentence, printable
  std::optional<std::int64_t> retry_after_ms;
};

using TokenResult = std::variant<TokenAnswer, TokenFailure>;

struct TokenAnswerRules {
  std::string token_at;     ///< as OAuthFlow::token_at
  bool at_top_too = false;  ///< where that member holds none
  bool any_type = false;    ///< of `token_type`; otherwise "Bearer" and `token_types`
  std::vector<std::string> token_types;
};

/// `body` is parsed where it stands and left in pieces. Never throws for what a service has sent.
TokenResult parse_token_answer(int status, SecretBytes& body, const TokenAnswerRules& rules);

}  // namespace krux
