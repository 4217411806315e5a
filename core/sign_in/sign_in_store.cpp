#include "core/sign_in/sign_in_store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/sign_in/sign_in_state.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using namespace sign_in;

constexpr std::size_t kHandleBytes = 32;

Error too_many(const std::string& message) {
  return {ErrorCode::kRateLimited, message, true};
}

}  // namespace

SignInStore::SignInStore(GroupCommit& store, Clock& clock, SignInTimes times, SignInBounds bounds)
    : state_(std::make_unique<State>(store, clock, times, bounds)) {
  state_->load();
}

SignInStore::~SignInStore() = default;

SignInClient SignInStore::register_client(const ClientMetadata& metadata) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  State::Change change;
  const auto& clients = state_->clients;
  if (clients.size() >= state_->bounds.clients) {
    const ClientRow* oldest = nullptr;
    for (const auto& [id, row] : clients) {
      if (row.used_at_ms == 0 && (!oldest || row.registered_at_ms < oldest->registered_at_ms)) oldest = &row;
    }
    if (!oldest) throw too_many("There are as many registered clients as there may be. Try again another day.");
    change.gone_clients.push_back(oldest->client.client_id);
  }
  const auto now = state_->clock.wall_ms();
  const ClientRow row{{make_id("client_", now), metadata}, now, 0};
  change.put.clients.push_back(row);
  state_->commit(change);
  return row.client;
}

std::optional<SignInClient> SignInStore::client(const std::string& client_id) const {
  const std::shared_lock lock(state_->mutex);
  const auto at = state_->clients.find(client_id);
  return at == state_->clients.end() ? std::nullopt : std::optional(at->second.client);
}

SignInStore::Begun SignInStore::begin(const SignInAsk& ask) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  State::Change change;
  state_->make_room_for_request(ask.peer, change);
  Begun begun;
  begun.handle = random_hex(kHandleBytes);
  begun.request.code = state_->free_code();
  begun.request.ask = ask;
  begun.request.begun_at_ms = state_->clock.wall_ms();
  begun.request.expires_at_ms = begun.request.begun_at_ms + state_->times.request_ms;
  const auto handle_hash = sha256_hex(begun.handle);
  begun.request.request_id = request_id_of(handle_hash);
  change.put.requests.push_back({handle_hash, sha256_hex(authorization_code(begun.handle)), begun.request});
  state_->commit(change);
  state_->count(SignInMeters::Request::kBegun);
  return begun;
}

/// Whoever has the code cannot make the handle of it.
std::string SignInStore::authorization_code(std::string_view handle) {
  return "kruxac_" + sha256_hex("authorization code of " + std::string(handle));
}

std::optional<SignInRequest> SignInStore::load_page(std::string_view handle) {
  const auto hash = sha256_hex(handle);
  const std::unique_lock lock(state_->mutex);
  const auto at = state_->requests.find(hash);
  if (at == state_->requests.end() || at->second.request.expires_at_ms <= state_->clock.wall_ms()) return std::nullopt;
  auto& loads = state_->page_loads[hash];
  loads.last_ms = state_->clock.boot_ms();
  if (++loads.count > state_->bounds.page_loads)
    throw too_many("This page was loaded too often. Begin again in the program that brought you here.");
  return at->second.request;
}

SignInRequest SignInStore::request(const std::string& code) const {
  const std::shared_lock lock(state_->mutex);
  return state_->require_request(code).request;
}

SignInRequest SignInStore::accept(const std::string& code, const std::string& agent_id, const std::string& who,
                                  std::function<void(SQLite::Database&)> also) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  auto row = state_->require_request(code);
  auto& request = row.request;
  if (request.decision != SignInDecision::kWaiting)
    throw conflict(
        fmt::format("{} is {} already, by {}.", request.code, to_string(request.decision), request.decided_by));
  const auto accepted = std::count_if(state_->requests.begin(), state_->requests.end(), [](const auto& item) {
    return item.second.request.decision == SignInDecision::kAccepted;
  });
  if (state_->live_grants() + static_cast<std::size_t>(accepted) >= state_->bounds.grants)
    throw conflict(
        fmt::format("There are {} grants, which is as many as there may be. End one that is not needed: "
                    "kruxos sign-in list, kruxos sign-in end ID.",
                    state_->bounds.grants));
  request.decision = SignInDecision::kAccepted;
  request.agent_id = agent_id;
  request.decided_by = who;
  request.expires_at_ms = state_->clock.wall_ms() + state_->times.code_ms;
  State::Change change;
  change.put.requests.push_back(row);
  change.also = std::move(also);
  change.before_commit = "sign_in.accept.before_commit";
  change.after_commit = "sign_in.accept.after_commit";
  state_->commit(change);
  state_->count(SignInMeters::Request::kAccepted);
  return request;
}

/// Also of one that was accepted, until its client has its tokens.
SignInRequest SignInStore::reject(const std::string& code_or_id, const std::string& who) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  auto row = state_->require_named(code_or_id);
  auto& request = row.request;
  if (request.decision == SignInDecision::kRejected) return request;
  request.decision = SignInDecision::kRejected;
  request.decided_by = who;
  State::Change change;
  change.put.requests.push_back(row);
  state_->commit(change);
  state_->count(SignInMeters::Request::kRejected);
  return request;
}

SignInGrant SignInStore::end(const std::string& grant_id, const std::string& who) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  const auto at = state_->grants.find(grant_id);
  if (at == state_->grants.end())
    throw Error(ErrorCode::kNotFound, "There is no grant with this id: kruxos sign-in list shows them.");
  if (at->second.grant.ended_at_ms != 0) return at->second.grant;
  State::Change change;
  change.end(at->second, state_->clock.wall_ms(), "ended by " + who);
  state_->commit(change);
  state_->count(SignInMeters::Tokens::kRevoked);
  return change.put.grants.front().grant;
}

void SignInStore::end_of_agent(const std::string& agent_id, const std::string& why) {
  const std::lock_guard changing(state_->changing);
  state_->tidy();
  State::Change change;
  for (const auto& [id, row] : state_->grants) {
    if (row.grant.agent_id == agent_id && row.grant.ended_at_ms == 0) change.end(row, state_->clock.wall_ms(), why);
  }
  for (const auto& [hash, row] : state_->requests) {
    if (row.request.agent_id == agent_id && row.request.decision == SignInDecision::kAccepted)
      change.gone_requests.push_back(hash);
  }
  state_->commit(change);
  for (std::size_t i = 0; i < change.ended_grants.size(); ++i) state_->count(SignInMeters::Tokens::kRevoked);
}

std::vector<SignInRequest> SignInStore::requests() const {
  std::vector<SignInRequest> all;
  {
    const std::shared_lock lock(state_->mutex);
    const auto now = state_->clock.wall_ms();
    for (const auto& [hash, row] : state_->requests) {
      if (row.request.expires_at_ms > now) all.push_back(row.request);
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begun_at_ms < b.begun_at_ms; });
  return all;
}

std::vector<SignInGrant> SignInStore::grants() const {
  std::vector<SignInGrant> all;
  {
    const std::shared_lock lock(state_->mutex);
    const std::lock_guard uses(state_->use_mutex);
    for (const auto& [id, row] : state_->grants) {
      all.push_back(row.grant);
      all.back().used_at_ms = std::max(row.grant.used_at_ms, state_->last_uses[id]);
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begun_at_ms > b.begun_at_ms; });
  return all;
}

void SignInStore::count_into(SignInMeters* meters) {
  state_->meters = meters;
}

void SignInStore::when_tokens_end(std::function<void()> told) {
  state_->tokens_ended = std::move(told);
}

}  // namespace krux
