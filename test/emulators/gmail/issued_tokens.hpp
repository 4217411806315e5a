// Access tokens that the provider issued: each opens the mailbox of the person who consented.
#pragma once

#include "emulators/gmail/tokens.hpp"
#include "emulators/oauth/provider.hpp"

namespace krux::test::gmail {

class IssuedTokens : public TokenSource {
 public:
  // The provider must outlive it. It goes by the clock that it was given.
  explicit IssuedTokens(const oauth::Provider& provider) : provider_(provider) {}

  std::optional<Access> access(const std::string& token, std::int64_t) const override {
    const oauth::TokenInfo info = provider_.find(token);
    if (info.state != oauth::TokenState::live || info.is_refresh) return std::nullopt;
    return Access{info.person.id, info.scopes};
  }

 private:
  const oauth::Provider& provider_;
};

}  // namespace krux::test::gmail
