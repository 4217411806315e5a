#include "emulators/gmail/tokens.hpp"

#include <algorithm>

namespace krux::test::gmail {
namespace {

const char* const kAllScopes[] = {"https://mail.google.com/",
                                  "gmail.modify",
                                  "gmail.readonly",
                                  "gmail.compose",
                                  "gmail.send",
                                  "gmail.insert",
                                  "gmail.labels"};

}  // namespace

std::string full_scope(const std::string& scope) {
  return scope.rfind("gmail.", 0) == 0 ? "https://www.googleapis.com/auth/" + scope : scope;
}

bool Access::has(std::string_view scope) const {
  const std::string wanted = full_scope(std::string(scope));
  return std::find(scopes.begin(), scopes.end(), wanted) != scopes.end();
}

bool Tokens::add(const std::string& specification, const std::string& first_address) {
  std::string rest = specification;
  Token token;
  const std::string expiry = ";expires_ms=";
  if (const std::size_t at = rest.find(expiry); at != std::string::npos) {
    token.expires_ms = token.expired_ms = std::strtoll(rest.c_str() + at + expiry.size(), nullptr, 10);
    rest.resize(at);
  }
  std::string scopes;
  if (const std::size_t colon = rest.find(':'); colon != std::string::npos) {
    scopes = rest.substr(colon + 1);
    rest.resize(colon);
  }
  const std::size_t at = rest.find('@');
  token.access.address = at == std::string::npos ? first_address : rest.substr(at + 1);
  rest.resize(std::min(at, rest.size()));
  while (!scopes.empty()) {
    const std::size_t comma = std::min(scopes.find(','), scopes.size());
    token.access.scopes.push_back(full_scope(scopes.substr(0, comma)));
    scopes.erase(0, comma + 1);
  }
  if (token.access.scopes.empty()) {
    for (const char* scope : kAllScopes) token.access.scopes.push_back(full_scope(scope));
  }
  if (rest.empty() || token.access.address.empty()) return false;
  tokens_[rest] = token;
  return true;
}

std::optional<Access> Tokens::access(const std::string& token, std::int64_t now_ms) const {
  auto found = tokens_.find(token);
  if (found == tokens_.end() || found->second.revoked) return std::nullopt;
  if (found->second.expires_ms != 0 && found->second.expires_ms <= now_ms) return std::nullopt;
  return found->second.access;
}

bool Tokens::revoke(const std::string& token) {
  auto found = tokens_.find(token);
  return found != tokens_.end() && (found->second.revoked = true);
}

void Tokens::expire_all(std::int64_t now_ms) {
  for (auto& [name, token] : tokens_) token.expires_ms = now_ms;
}

void Tokens::restore_all() {
  for (auto& [name, token] : tokens_) {
    token.revoked = false;
    token.expires_ms = token.expired_ms;
  }
}

std::vector<std::string> Tokens::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& [name, token] : tokens_) addresses.push_back(token.access.address);
  return addresses;
}

}  // namespace krux::test::gmail
