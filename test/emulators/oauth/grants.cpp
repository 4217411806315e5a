#include "emulators/oauth/grants.hpp"

#include <algorithm>

namespace krux::test::oauth {
namespace {

constexpr std::int64_t kSlackPublicRefreshMs = 30LL * 24 * 3600 * 1000;
constexpr int kSlackActiveTokens = 2;

bool over(std::int64_t ends_ms, std::int64_t now_ms) {
  return ends_ms != 0 && ends_ms <= now_ms;
}

}  // namespace

std::string Grants::add_code(Code code, std::int64_t now_ms) {
  code.ends_ms = now_ms + behaviour_.code_seconds * 1000;
  std::string text = mint_.text(flavour_ == Flavour::google ? "4/0A" : "1111.2222.");
  codes_[text] = std::move(code);
  return text;
}

Code* Grants::code(const std::string& text) {
  auto found = codes_.find(text);
  return found == codes_.end() ? nullptr : &found->second;
}

Grant& Grants::open(Grant grant) {
  grant.id = "grant-" + std::to_string(next_grant_++);
  const std::string id = grant.id;
  return grants_[id] = std::move(grant);
}

Grant* Grants::grant(const std::string& id) {
  auto found = grants_.find(id);
  return found == grants_.end() ? nullptr : &found->second;
}

std::string Grants::new_access(const Grant& grant) {
  if (flavour_ == Flavour::google) return mint_.text("ya29.a0");
  const std::string kind = grant.speaker == Speaker::bot ? "xoxb-" : "xoxp-";
  return mint_.text(grant.rotation ? "xoxe." + kind + "1-" : kind);
}

Issued Grants::issue(Grant& grant, bool with_refresh, std::int64_t now_ms) {
  Issued issued;
  const bool ends = flavour_ == Flavour::google || grant.rotation;
  issued.access = new_access(grant);
  issued.seconds = ends ? behaviour_.access_seconds : 0;
  access_[issued.access] = {grant.id, now_ms, ends ? now_ms + issued.seconds * 1000 : 0, false};
  order_.push_back(issued.access);
  if (flavour_ == Flavour::slack) keep_newest_access(grant);
  if (!with_refresh) return issued;
  issued.refresh = mint_.text(flavour_ == Flavour::google ? "1//0" : "xoxe-1-");
  std::int64_t life_ms = behaviour_.refresh_seconds * 1000;
  if (life_ms == 0 && grant.secretless) life_ms = kSlackPublicRefreshMs;
  refresh_[issued.refresh] = {grant.id, life_ms == 0 ? 0 : now_ms + life_ms, std::nullopt, false};
  order_.push_back(issued.refresh);
  ++grant.issued_refresh;
  keep_newest_refresh(grant);
  return issued;
}

void Grants::keep_newest_access(const Grant& grant) {
  int live = 0;
  for (auto token = order_.rbegin(); token != order_.rend(); ++token) {
    auto found = access_.find(*token);
    if (found == access_.end() || found->second.grant != grant.id || found->second.revoked) continue;
    if (++live > kSlackActiveTokens) found->second.revoked = true;
  }
}

void Grants::keep_newest_refresh(const Grant& grant) {
  std::int64_t live = 0;
  for (auto token = order_.rbegin(); token != order_.rend(); ++token) {
    auto found = refresh_.find(*token);
    if (found == refresh_.end() || found->second.revoked || found->second.outdated_ms) continue;
    const Grant& of = grants_.at(found->second.grant);
    if (of.client != grant.client || of.person.id != grant.person.id || of.speaker != grant.speaker) continue;
    if (++live > behaviour_.refresh_token_limit) found->second.revoked = true;
  }
}

RefreshState Grants::refresh_state(const std::string& refresh_token, std::int64_t now_ms) const {
  auto found = refresh_.find(refresh_token);
  if (found == refresh_.end()) return RefreshState::unknown;
  const RefreshToken& token = found->second;
  if (token.revoked || !grants_.at(token.grant).ended.empty()) return RefreshState::ended;
  if (over(token.ends_ms, now_ms)) return RefreshState::expired;
  if (!token.outdated_ms) return RefreshState::fresh;
  return now_ms < *token.outdated_ms + behaviour_.grace_ms ? RefreshState::in_grace : RefreshState::outdated;
}

Grant* Grants::grant_of_refresh(const std::string& refresh_token) {
  auto found = refresh_.find(refresh_token);
  return found == refresh_.end() ? nullptr : grant(found->second.grant);
}

Issued Grants::refresh(const std::string& refresh_token, std::int64_t now_ms) {
  RefreshToken& token = refresh_.at(refresh_token);
  Grant& of = grants_.at(token.grant);
  if (of.rotation && !token.outdated_ms) token.outdated_ms = now_ms;
  ++of.refreshes;
  return issue(of, of.rotation, now_ms);
}

AccessLookup Grants::find(const std::string& access_token, std::int64_t now_ms) const {
  auto found = access_.find(access_token);
  if (found == access_.end()) return {};
  const Grant& of = grants_.at(found->second.grant);
  if (found->second.revoked || !of.ended.empty()) return {TokenState::revoked, &of};
  return {over(found->second.ends_ms, now_ms) ? TokenState::expired : TokenState::live, &of};
}

void Grants::end(Grant& grant, const std::string& why) {
  if (grant.ended.empty()) grant.ended = why;
}

int Grants::end_all(const std::string& client, const std::string& person, const std::string& why) {
  int ended = 0;
  for (auto& [id, grant] : grants_) {
    if (grant.client != client || grant.person.id != person || !grant.ended.empty()) continue;
    end(grant, why);
    ++ended;
  }
  return ended;
}

bool Grants::revoke_token(const std::string& token, std::int64_t now_ms) {
  if (auto found = access_.find(token); found != access_.end()) {
    const bool worked = find(token, now_ms).state == TokenState::live;
    found->second.revoked = true;
    return worked;
  }
  auto found = refresh_.find(token);
  if (found == refresh_.end()) return false;
  const RefreshState state = refresh_state(token, now_ms);
  found->second.revoked = true;
  return state == RefreshState::fresh || state == RefreshState::in_grace;
}

bool Grants::belongs(const std::string& grant, const std::string& person) const {
  return person.empty() || grants_.at(grant).person.id == person;
}

int Grants::expire_access(const std::string& person, std::int64_t now_ms) {
  int expired = 0;
  for (auto& [text, token] : access_) {
    if (token.revoked || token.ends_ms == 0 || token.ends_ms <= now_ms || !belongs(token.grant, person)) continue;
    token.ends_ms = now_ms;
    ++expired;
  }
  return expired;
}

int Grants::expire_refresh(const std::string& person, std::int64_t now_ms) {
  int expired = 0;
  for (auto& [text, token] : refresh_) {
    if (token.revoked || over(token.ends_ms, now_ms) || !belongs(token.grant, person)) continue;
    token.ends_ms = now_ms;
    ++expired;
  }
  return expired;
}

std::int64_t Grants::live_access(const std::string& grant, std::int64_t now_ms) const {
  return std::count_if(access_.begin(), access_.end(), [&](const auto& token) {
    return token.second.grant == grant && find(token.first, now_ms).state == TokenState::live;
  });
}

std::int64_t Grants::live_refresh(const std::string& grant, std::int64_t now_ms) const {
  return std::count_if(refresh_.begin(), refresh_.end(), [&](const auto& token) {
    return token.second.grant == grant && refresh_state(token.first, now_ms) == RefreshState::fresh;
  });
}

std::int64_t Grants::live_grants() const {
  return std::count_if(grants_.begin(), grants_.end(), [](const auto& entry) { return entry.second.ended.empty(); });
}

std::vector<std::string> Grants::secrets() const {
  std::vector<std::string> all = order_;
  for (const auto& [text, code] : codes_) all.push_back(text);
  return all;
}

}  // namespace krux::test::oauth
