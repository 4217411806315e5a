// Codes and tokens: given, renewed, revoked, looked at.
#include <algorithm>

#include "core/oauth/pkce.hpp"
#include "core/sign_in/client_metadata.hpp"
#include "core/sign_in/sign_in_state.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using namespace sign_in;

constexpr std::string_view kAccessPrefix = "kruxat_", kRefreshPrefix = "kruxrt_";
constexpr std::size_t kTokenBytes = 32, kFamilyBytes = 16;
/// How many pairs of one grant may be renewed, each by who got it.
constexpr std::size_t kPairsBeside = 4;
constexpr std::int64_t kSeenEveryMs = 60'000;

bool is_token(std::string_view text, std::string_view prefix, std::size_t bytes) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != prefix.size() + 2 * bytes || !text.starts_with(prefix)) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(prefix.size()), text.end(), is_hex);
}

/// What all refresh tokens of a grant have in common; empty for what is none. By it one that is long forgotten is known
/// for what it is.
std::string family_of(std::string_view refresh_token) {
  if (!is_token(refresh_token, kRefreshPrefix, kFamilyBytes + kTokenBytes)) return {};
  return std::string(refresh_token.substr(kRefreshPrefix.size(), 2 * kFamilyBytes));
}

/// RFC 7636, 4.1.
bool is_verifier(std::string_view text) {
  return text.size() >= 43 && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                  c == '_' || c == '~';
         });
}

SignInRefused no_grant(const char* why) {
  return {"invalid_grant", why};
}

/// Why the code is not for whoever shows it; nullptr: it is.
const char* why_not_his(const SignInAsk& ask, const CodeExchange& order) {
  if (ask.client.client_id != order.client_id) return "The code was given to another client. It is spent now.";
  if (order.redirect_uri && *order.redirect_uri != ask.redirect_uri)
    return "redirect_uri is not the one of the authorization request. The code is spent now.";
  if (!is_verifier(order.verifier) || !equal_constant_time(challenge_of(order.verifier), ask.challenge))
    return "code_verifier does not fit the code_challenge. The code is spent now.";
  if (ask.resource != order.audience) return "The code is for a resource that is not served any more.";
  return nullptr;
}

SignInGrant grant_of(const SignInRequest& request, std::int64_t now_ms) {
  SignInGrant grant;
  grant.grant_id = make_id("grant_", now_ms);
  grant.client_id = request.ask.client.client_id;
  grant.client_name = request.ask.client.metadata.name;
  grant.redirect_host = redirect_host(request.ask.redirect_uri);
  grant.resource = request.ask.resource;
  grant.agent_id = request.agent_id;
  grant.accepted_by = request.decided_by;
  grant.begun_at_ms = grant.used_at_ms = now_ms;
  return grant;
}

}  // namespace

bool is_access_token(std::string_view text) {
  return is_token(text, kAccessPrefix, kTokenBytes);
}

SignInTokens SignInStore::State::issue(GrantRow grant, const std::string& family, std::int64_t generation,
                                       Change& change) const {
  const auto now = clock.wall_ms();
  SignInTokens pair{std::string(kAccessPrefix) + random_hex(kTokenBytes),
                    std::string(kRefreshPrefix) + family + random_hex(kTokenBytes), times.access_ms};
  const auto& id = grant.grant.grant_id;
  grant.grant.expires_at_ms = now + times.idle_ms;
  change.put.tokens.push_back(
      {sha256_hex(pair.access_token), id, TokenKind::kAccess, generation, now + times.access_ms, 0});
  change.put.tokens.push_back(
      {sha256_hex(pair.refresh_token), id, TokenKind::kRefresh, generation, grant.grant.expires_at_ms, 0});
  change.put.grants.push_back(std::move(grant));
  return pair;
}

/// Its code was shown again: somebody else has it too.
void SignInStore::State::end_of_code(const std::string& code_hash) {
  Change change;
  for (const auto& [id, row] : grants) {
    if (row.code_hash == code_hash && row.grant.ended_at_ms == 0)
      change.end(row, clock.wall_ms(), "its authorization code was used a second time");
  }
  commit(change);
  if (!change.ended_grants.empty()) count(SignInMeters::Tokens::kReplayed);
}

SignInTokens SignInStore::exchange(const CodeExchange& order) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  const auto code_hash = sha256_hex(order.code);
  const auto& requests = state_->requests;
  const auto at = std::find_if(requests.begin(), requests.end(), [&](const auto& item) {
    return item.second.code_hash == code_hash && item.second.request.decision == SignInDecision::kAccepted;
  });
  if (at == requests.end()) {
    state_->end_of_code(code_hash);
    throw no_grant("The code is unknown, over, or was used before.");
  }
  const auto& request = at->second.request;
  State::Change change;
  change.gone_requests.push_back(at->first);
  if (const auto* why = why_not_his(request.ask, order)) {
    state_->commit(change);
    throw no_grant(why);
  }
  const auto now = state_->clock.wall_ms();
  const auto family = random_hex(kFamilyBytes);
  const GrantRow grant{grant_of(request, now), code_hash, sha256_hex(family)};
  auto tokens = state_->issue(grant, family, 1, change);
  if (const auto client = state_->clients.find(order.client_id); client != state_->clients.end()) {
    change.put.clients.push_back(client->second);
    change.put.clients.back().used_at_ms = now;
  }
  change.before_commit = "sign_in.exchange.before_commit";
  change.after_commit = "sign_in.exchange.after_commit";
  state_->commit(change);
  state_->count(SignInMeters::Tokens::kIssued);
  return tokens;
}

/// Whose refresh token it is, or was.
const GrantRow& SignInStore::State::require_grant(const TokenRefresh& order, const std::string& family) const {
  const auto family_hash = sha256_hex(family);
  const auto at = std::find_if(grants.begin(), grants.end(), [&](const auto& item) {
    return !family.empty() && item.second.family_hash == family_hash;
  });
  if (at == grants.end()) throw no_grant("The refresh token is unknown.");
  const auto& grant = at->second.grant;
  if (grant.ended_at_ms != 0) throw no_grant("The grant of this refresh token has ended.");
  if (grant.client_id != order.client_id) throw no_grant("The refresh token was given to another client.");
  if (grant.resource != order.audience)
    throw no_grant("The refresh token is for a resource that is not served any more.");
  return at->second;
}

/// Who lost the answer asks again, and two workers of one host ask beside each other. But once one of them has gone a
/// step further, who comes with the token of before is a thief.
bool SignInStore::State::may_repeat(const TokenRow& shown, const std::vector<TokenRow>& all) const {
  if (shown.used_at_ms + times.grace_ms <= clock.wall_ms()) return false;
  return std::none_of(all.begin(), all.end(), [&](const TokenRow& token) {
    return token.kind == TokenKind::kRefresh && token.generation > shown.generation && token.used_at_ms != 0 &&
           token.used_at_ms >= shown.used_at_ms;
  });
}

void SignInStore::State::drop_old(const TokenRow& shown, const std::vector<TokenRow>& all, Change& change) const {
  std::vector<const TokenRow*> unused;
  for (const auto& token : all) {
    if (token.token_hash == shown.token_hash) continue;
    if (token.kind == TokenKind::kAccess) {
      // Requests may be under way with the access token of before.
      if (token.generation < shown.generation) change.gone_tokens.push_back(token.token_hash);
    } else if (token.used_at_ms == 0) {
      unused.push_back(&token);
    } else if (token.used_at_ms + times.grace_ms <= clock.wall_ms()) {
      change.gone_tokens.push_back(token.token_hash);
    }
  }
  if (unused.size() < kPairsBeside) return;
  std::sort(unused.begin(), unused.end(), [](const auto* a, const auto* b) { return a->generation < b->generation; });
  unused.resize(unused.size() - (kPairsBeside - 1));
  for (const auto* token : unused) change.gone_tokens.push_back(token->token_hash);
}

SignInTokens SignInStore::refresh(const TokenRefresh& order) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  const auto family = family_of(order.refresh_token);
  const auto grant = state_->require_grant(order, family);
  const auto now = state_->clock.wall_ms();
  const auto all = state_->tokens_of(grant.grant.grant_id);
  const auto hash = sha256_hex(order.refresh_token);
  const auto shown = std::find_if(all.begin(), all.end(), [&](const TokenRow& t) { return t.token_hash == hash; });
  State::Change change;
  if (shown == all.end() || (shown->used_at_ms != 0 && !state_->may_repeat(*shown, all))) {
    change.end(grant, now, "a refresh token was used a second time");
    state_->commit(change);
    state_->count(SignInMeters::Tokens::kReplayed);
    throw no_grant("The refresh token was used before. Its grant has ended.");
  }
  const auto of_repeats = std::count_if(all.begin(), all.end(), [&](const TokenRow& token) {
    return token.kind == TokenKind::kRefresh && token.generation == shown->generation + 1;
  });
  if (shown->used_at_ms != 0 && static_cast<std::size_t>(of_repeats) >= kPairsBeside)
    throw no_grant("The refresh token was used too often within a minute. Go on with what it gave.");
  state_->drop_old(*shown, all, change);
  if (shown->used_at_ms == 0) {
    change.put.tokens.push_back(*shown);
    change.put.tokens.back().used_at_ms = now;
  }
  auto tokens = state_->issue(grant, family, shown->generation + 1, change);
  change.before_commit = "sign_in.refresh.before_commit";
  change.after_commit = "sign_in.refresh.after_commit";
  state_->commit(change);
  state_->count(SignInMeters::Tokens::kRefreshed);
  return tokens;
}

void SignInStore::revoke(const std::string& token, const std::string& client_id) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  const auto at = state_->tokens.find(sha256_hex(token));
  if (at == state_->tokens.end()) return;
  const auto& grant = state_->grants.at(at->second.grant_id);
  if (!client_id.empty() && grant.grant.client_id != client_id)
    throw no_grant("The token was given to another client.");
  State::Change change;
  if (at->second.kind == TokenKind::kAccess) {
    change.gone_tokens.push_back(at->first);
  } else {
    change.end(grant, state_->clock.wall_ms(), "its client has signed out");
  }
  state_->commit(change);
  state_->count(SignInMeters::Tokens::kRevoked);
}

std::optional<TokenOwner> SignInStore::authenticate(std::string_view access_token, std::string_view audience) {
  const auto hash = sha256_hex(access_token);
  const auto now = state_->clock.wall_ms();
  TokenOwner owner;
  {
    const std::shared_lock lock(state_->mutex);
    const auto at = state_->tokens.find(hash);
    if (at == state_->tokens.end()) return std::nullopt;
    const auto& token = at->second;
    const auto& grant = state_->grants.at(token.grant_id).grant;
    if (token.kind != TokenKind::kAccess || token.expires_at_ms <= now || grant.resource != audience)
      return std::nullopt;
    owner = {grant.grant_id, grant.agent_id};
    if (!state_->note_use(grant.grant_id, now)) return owner;
  }
  state_->store.post([now, grant_id = owner.grant_id](SQLite::Database& db) { note_use(db, grant_id, now); },
                     [](std::exception_ptr) {});  // a failure here must not fail the agent's call
  return owner;
}

bool SignInStore::State::note_use(const std::string& grant_id, std::int64_t now_ms) {
  const std::lock_guard lock(use_mutex);
  auto& last = last_uses[grant_id];
  // A wall clock that was set back counts as well: otherwise nothing would be noted until it has caught up.
  if (now_ms >= last && now_ms - last < kSeenEveryMs) return false;
  last = now_ms;
  return true;
}

}  // namespace krux
