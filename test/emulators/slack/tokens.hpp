// Who may call: tokens with their scopes, and tokens that were revoked.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krux::test::slack {

struct Token {
  std::vector<std::string> scopes;
  std::string user, team;     // who auth.test says that it is; empty: the bot, the workspace
  std::string revoked_error;  // empty while it works; then what Slack answers to its bearer

  bool has(std::string_view scope) const;
  std::string scope_list() const;  // "chat:write,users:read"
};

class Tokens {
 public:
  // "xoxb-1-2:chat:write,users:read": the token up to its first colon, then its scopes; without any, all of them. The
  // token may be followed by "@U123" or "@U123@T456": whose it is.
  void add(const std::string& specification);
  // Null: there never was such a token.
  const Token* find(const std::string& token) const;
  // error empty: what Slack says of that kind, account_inactive for a bot's token and token_revoked for others.
  // False: there is no such token.
  bool revoke(const std::string& token, std::string error = "");
  void restore_all();

 private:
  std::map<std::string, Token> tokens_;
};

const std::vector<std::string>& all_scopes();

}  // namespace krux::test::slack
