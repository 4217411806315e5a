// Who may call: tokens with their scopes, and tokens that were revoked.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulators/oauth/provider.hpp"

namespace krux::test::slack {

struct Token {
  std::vector<std::string> scopes;
  std::string user, team;     // who auth.test says that it is; empty: the bot, the workspace
  std::string revoked_error;  // empty while it works; then what Slack answers to its bearer
  bool is_refresh = false;    // a refresh token: it can be revoked, and that is all

  bool has(std::string_view scope) const;
  std::string scope_list() const;  // "chat:write,users:read"
};

// Those that the command line or a test names, and those that the provider issues (null: there is none).
class Tokens {
 public:
  explicit Tokens(oauth::Provider* provider = nullptr, std::string own_team = "")
      : provider_(provider), own_team_(std::move(own_team)) {}

  // "xoxb-1-2:chat:write,users:read": the token up to its first colon, then its scopes; without any, all of them. The
  // token may be followed by "@U123" or "@U123@T456": whose it is.
  void add(const std::string& specification);
  // Null: there never was such a token.
  const Token* find(const std::string& token) const;
  // error empty: what Slack says of that kind, account_inactive for a bot's token and token_revoked for others.
  // False: there is no such token, or an issued one that does not work anyway.
  bool revoke(const std::string& token, std::string error = "");
  void restore_all();

 private:
  const Token* find_issued(const std::string& token) const;

  oauth::Provider* provider_;
  std::string own_team_;
  std::map<std::string, Token> tokens_;
  mutable std::map<std::string, Token> issued_;  // as the provider described them when they were last looked up
};

const std::vector<std::string>& all_scopes();

}  // namespace krux::test::slack
