#include "core/sign_in/sign_in_state.hpp"

#include <sodium.h>

#include <algorithm>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"

namespace krux {
namespace {

using namespace sign_in;

/// In the order that references ask for.
void write_rows(SQLite::Database& db, const SignInStore::State::Change& change) {
  for (const auto& row : change.put.clients) put(db, row);
  for (const auto& row : change.put.requests) put(db, row);
  for (const auto& row : change.put.grants) put(db, row);
  for (const auto& id : change.ended_grants) remove_tokens_of(db, id);
  for (const auto& hash : change.gone_tokens) remove_token(db, hash);
  for (const auto& row : change.put.tokens) put(db, row);
  for (const auto& id : change.gone_clients) remove_client(db, id);
  for (const auto& hash : change.gone_requests) remove_request(db, hash);
  for (const auto& id : change.gone_grants) remove_grant(db, id);
}

/// Without letters that people take for others, or that make words.
constexpr std::string_view kCodeLetters = "BCDFGHJKLMNPQRSTVWXZ";

}  // namespace

const char* to_string(SignInDecision decision) {
  switch (decision) {
    case SignInDecision::kAccepted:
      return "accepted";
    case SignInDecision::kRejected:
      return "rejected";
    default:
      return "waiting";
  }
}

bool SignInStore::State::Change::empty() const {
  return put.clients.empty() && put.requests.empty() && put.grants.empty() && put.tokens.empty() &&
         gone_clients.empty() && gone_requests.empty() && gone_tokens.empty() && gone_grants.empty();
}

void SignInStore::State::Change::end(GrantRow row, std::int64_t now_ms, const std::string& reason) {
  row.grant.ended_at_ms = now_ms;
  row.grant.end_reason = reason;
  ended_grants.push_back(row.grant.grant_id);
  put.grants.push_back(std::move(row));
}

void SignInStore::State::load() {
  auto rows = store.run([](SQLite::Database& db) { return sign_in::load(db); });
  for (auto& row : rows.clients) clients.emplace(row.client.client_id, std::move(row));
  for (auto& row : rows.requests) requests.emplace(row.handle_hash, std::move(row));
  for (const auto& row : rows.grants) last_uses[row.grant.grant_id] = row.grant.used_at_ms;
  for (auto& row : rows.grants) grants.emplace(row.grant.grant_id, std::move(row));
  for (auto& row : rows.tokens) tokens.emplace(row.token_hash, std::move(row));
}

void SignInStore::State::commit(const Change& change) {
  if (change.empty()) return;
  store.run([&](SQLite::Database& db) {
    if (change.also) change.also(db);
    write_rows(db, change);
    if (!change.before_commit.empty()) KRUX_FAULT_POINT(change.before_commit);
  });
  if (!change.after_commit.empty()) KRUX_FAULT_POINT(change.after_commit);
  {
    const std::unique_lock lock(mutex);
    for (const auto& row : change.put.clients) clients.insert_or_assign(row.client.client_id, row);
    for (const auto& row : change.put.requests) requests.insert_or_assign(row.handle_hash, row);
    for (const auto& row : change.put.grants) grants.insert_or_assign(row.grant.grant_id, row);
    std::erase_if(tokens, [&](const auto& item) {
      const auto& ended = change.ended_grants;
      return std::find(ended.begin(), ended.end(), item.second.grant_id) != ended.end();
    });
    for (const auto& hash : change.gone_tokens) tokens.erase(hash);
    for (const auto& row : change.put.tokens) tokens.insert_or_assign(row.token_hash, row);
    for (const auto& id : change.gone_clients) clients.erase(id);
    for (const auto& hash : change.gone_requests) {
      requests.erase(hash);
      page_loads.erase(hash);
    }
    for (const auto& id : change.gone_grants) grants.erase(id);
    const std::lock_guard uses(use_mutex);
    std::erase_if(last_uses, [&](const auto& item) { return !grants.contains(item.first); });
  }
  if (tokens_ended && (!change.ended_grants.empty() || !change.gone_tokens.empty())) tokens_ended();
}

void SignInStore::State::tidy() {
  Change change;
  tidy_requests_and_clients(change);
  tidy_grants(change);
  commit(change);
}

void SignInStore::State::tidy_requests_and_clients(Change& change) const {
  const auto now = clock.wall_ms();
  for (const auto& [hash, row] : requests) {
    if (row.request.expires_at_ms <= now) change.gone_requests.push_back(hash);
  }
  for (const auto& [id, row] : clients) {
    const auto until =
        row.used_at_ms == 0 ? row.registered_at_ms + times.unused_client_ms : row.used_at_ms + times.idle_client_ms;
    if (until <= now) change.gone_clients.push_back(id);
  }
}

void SignInStore::State::tidy_grants(Change& change) const {
  const auto now = clock.wall_ms();
  std::vector<const GrantRow*> ended;
  for (const auto& [id, row] : grants) {
    const auto& grant = row.grant;
    if (grant.ended_at_ms != 0) {
      grant.ended_at_ms + times.ended_grant_ms <= now ? change.gone_grants.push_back(id) : ended.push_back(&row);
    } else if (grant.expires_at_ms <= now) {
      change.end(row, grant.expires_at_ms, "it was not renewed");
    }
  }
  for (const auto& [hash, row] : tokens) {
    // A refresh token that was used in time runs out with its grant; it must be known until then.
    if (row.kind == TokenKind::kAccess && row.expires_at_ms <= now) change.gone_tokens.push_back(hash);
  }
  if (ended.size() <= bounds.ended_grants) return;
  std::sort(ended.begin(), ended.end(),
            [](const auto* a, const auto* b) { return a->grant.ended_at_ms < b->grant.ended_at_ms; });
  for (std::size_t i = 0; i + bounds.ended_grants < ended.size(); ++i)
    change.gone_grants.push_back(ended[i]->grant.grant_id);
}

const RequestRow* SignInStore::State::find_request(const std::string& code) const {
  std::string wanted;
  for (const char c : code) {
    if (c == '-' || c == ' ') continue;
    if (wanted.size() == 4) wanted += '-';
    wanted += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }
  const auto now = clock.wall_ms();
  for (const auto& [hash, row] : requests) {
    if (row.request.code == wanted && row.request.expires_at_ms > now) return &row;
  }
  return nullptr;
}

const RequestRow& SignInStore::State::require_request(const std::string& code) const {
  if (const auto* row = find_request(code)) return *row;
  throw Error(ErrorCode::kNotFound,
              "There is no request to sign in with this code, or it is over. Its page shows the code; kruxos sign-in "
              "list shows which wait, and the half of each code.");
}

const RequestRow& SignInStore::State::require_named(const std::string& code_or_id) const {
  const auto now = clock.wall_ms();
  for (const auto& [hash, row] : requests) {
    if (row.request.request_id == code_or_id && row.request.expires_at_ms > now) return row;
  }
  return require_request(code_or_id);
}

std::vector<TokenRow> SignInStore::State::tokens_of(const std::string& grant_id) const {
  std::vector<TokenRow> all;
  for (const auto& [hash, row] : tokens) {
    if (row.grant_id == grant_id) all.push_back(row);
  }
  return all;
}

std::size_t SignInStore::State::live_grants() const {
  const auto now = clock.wall_ms();
  return static_cast<std::size_t>(std::count_if(grants.begin(), grants.end(), [&](const auto& item) {
    return item.second.grant.ended_at_ms == 0 && item.second.grant.expires_at_ms > now;
  }));
}

/// Whether its page is before somebody now: it loads itself again every few seconds.
bool SignInStore::State::is_shown(const std::string& handle_hash) const {
  const std::shared_lock lock(mutex);
  const auto at = page_loads.find(handle_hash);
  return at != page_loads.end() && at->second.last_ms + times.shown_ms > clock.boot_ms();
}

/// Of one address the oldest that waits and that nobody looks at makes way, of all none: strangers may share an
/// address.
void SignInStore::State::make_room_for_request(const std::string& peer, Change& change) const {
  std::size_t of_peer = 0;
  const RequestRow* oldest = nullptr;
  for (const auto& [hash, row] : requests) {
    if (row.request.ask.peer != peer || row.request.decision != SignInDecision::kWaiting) continue;
    ++of_peer;
    const bool older = !oldest || row.request.begun_at_ms < oldest->request.begun_at_ms;
    if (older && !is_shown(hash)) oldest = &row;
  }
  if (oldest && of_peer >= bounds.requests_of_peer) {
    change.gone_requests.push_back(oldest->handle_hash);
  } else if (of_peer >= bounds.requests_of_peer || requests.size() >= bounds.requests) {
    throw Error(ErrorCode::kRateLimited, "Too many requests to sign in wait already. Try again in a few minutes.", true,
                times.request_ms);
  }
}

std::string SignInStore::State::free_code() const {
  for (;;) {
    std::string code;
    for (int i = 0; i < 8; ++i) {
      if (i == 4) code += '-';
      code += kCodeLetters[randombytes_uniform(kCodeLetters.size())];
    }
    const bool taken = std::any_of(requests.begin(), requests.end(),
                                   [&](const auto& item) { return item.second.request.code == code; });
    if (!taken) return code;
  }
}

}  // namespace krux
