#include "emulators/slack/tokens.hpp"

#include <algorithm>

namespace krux::test::slack {

const std::vector<std::string>& all_scopes() {
  static const std::vector<std::string> scopes = {
      "channels:read",        "groups:read",  "im:read",    "mpim:read",  "channels:history", "groups:history",
      "im:history",           "mpim:history", "users:read", "chat:write", "reactions:read",   "reactions:write",
      "metadata.message:read"};
  return scopes;
}

bool Token::has(std::string_view scope) const {
  return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
}

std::string Token::scope_list() const {
  std::string list;
  for (const std::string& scope : scopes) list += (list.empty() ? "" : ",") + scope;
  return list;
}

void Tokens::add(const std::string& specification) {
  const std::size_t colon = specification.find(':');
  Token token;
  if (colon == std::string::npos) token.scopes = all_scopes();
  std::size_t at = colon == std::string::npos ? specification.size() : colon + 1;
  while (at < specification.size()) {
    const std::size_t end = std::min(specification.find(',', at), specification.size());
    token.scopes.push_back(specification.substr(at, end - at));
    at = end + 1;
  }
  const std::string bearer = specification.substr(0, colon);
  const std::size_t user = bearer.find('@'), team = bearer.find('@', std::min(user, bearer.size() - 1) + 1);
  if (user != std::string::npos)
    token.user = bearer.substr(user + 1, team == std::string::npos ? team : team - user - 1);
  if (team != std::string::npos) token.team = bearer.substr(team + 1);
  tokens_[bearer.substr(0, user)] = std::move(token);
}

const Token* Tokens::find(const std::string& token) const {
  auto found = tokens_.find(token);
  return found == tokens_.end() ? find_issued(token) : &found->second;
}

const Token* Tokens::find_issued(const std::string& token) const {
  if (!provider_) return nullptr;
  const oauth::TokenInfo info = provider_->find(token);
  if (info.state == oauth::TokenState::unknown) return nullptr;
  const bool bot = info.speaker == oauth::Speaker::bot;
  Token& issued = issued_[token];
  issued.scopes = info.scopes;
  issued.user = bot ? "" : info.person.id;
  issued.team = info.person.team == own_team_ ? "" : info.person.team;
  issued.is_refresh = info.is_refresh;
  issued.revoked_error.clear();
  if (info.state == oauth::TokenState::expired) issued.revoked_error = "token_expired";
  if (info.state == oauth::TokenState::revoked) issued.revoked_error = bot ? "account_inactive" : "token_revoked";
  return &issued;
}

bool Tokens::revoke(const std::string& token, std::string error) {
  auto found = tokens_.find(token);
  if (found == tokens_.end()) return provider_ && provider_->revoke(token);
  if (error.empty()) error = token.rfind("xoxb-", 0) == 0 ? "account_inactive" : "token_revoked";
  found->second.revoked_error = std::move(error);
  return true;
}

void Tokens::restore_all() {
  for (auto& [name, token] : tokens_) token.revoked_error.clear();
}

}  // namespace krux::test::slack
