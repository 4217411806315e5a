#include "host/gateway/mcp/subscriptions.hpp"

#include <algorithm>

namespace krux::mcp {

Subscriptions::OfSession* Subscriptions::State::find(const std::string& session) {
  const auto at =
      std::find_if(sessions.begin(), sessions.end(), [&](const OfSession& one) { return one.session == session; });
  return at == sessions.end() ? nullptr : &*at;
}

/// Under the lock while it tells: what is not heard waits for whoever listens next, and he comes after it.
void Subscriptions::State::changed(const std::string& session, const std::string& uri) {
  const std::lock_guard lock(mutex);
  auto* of_session = find(session);
  const auto one = of_session ? of_session->by_uri.find(uri) : std::map<std::string, One>::iterator();
  if (of_session && one != of_session->by_uri.end()) one->second.waits = !tell(session, uri);
}

void Subscriptions::State::make_room(const std::string& agent_id) {
  const auto is_his = [&](const OfSession& one) { return one.agent_id == agent_id; };
  if (std::count_if(sessions.begin(), sessions.end(), is_his) < static_cast<std::ptrdiff_t>(kPerAgent)) return;
  sessions.erase(std::find_if(sessions.begin(), sessions.end(), is_his));
}

bool Subscriptions::add(const std::string& agent_id, const std::string& session, const std::string& uri,
                        const Watch& watch) {
  const std::lock_guard lock(state_->mutex);
  auto* of_session = state_->find(session);
  if (of_session && of_session->by_uri.count(uri) > 0) return true;
  if (of_session && of_session->by_uri.size() >= kPerSession) return false;
  if (!of_session) {
    state_->make_room(agent_id);
    of_session = &state_->sessions.emplace_back(OfSession{session, agent_id, {}});
  }
  of_session->by_uri[uri].watched = watch([weak = std::weak_ptr(state_), session, uri] {
    if (const auto state = weak.lock()) state->changed(session, uri);
  });
  return true;
}

void Subscriptions::remove(const std::string& session, const std::string& uri) {
  const std::lock_guard lock(state_->mutex);
  auto* of_session = state_->find(session);
  if (!of_session) return;
  of_session->by_uri.erase(uri);
  if (of_session->by_uri.empty()) state_->sessions.remove_if([&](const auto& one) { return one.session == session; });
}

void Subscriptions::end(const std::string& session) {
  const std::lock_guard lock(state_->mutex);
  state_->sessions.remove_if([&](const auto& one) { return one.session == session; });
}

void Subscriptions::listens(const std::string& session) {
  const std::lock_guard lock(state_->mutex);
  auto* of_session = state_->find(session);
  if (!of_session) return;
  for (auto& [uri, one] : of_session->by_uri) {
    if (one.waits) one.waits = !state_->tell(session, uri);
  }
}

std::size_t Subscriptions::size() const {
  const std::lock_guard lock(state_->mutex);
  std::size_t all = 0;
  for (const auto& one : state_->sessions) all += one.by_uri.size();
  return all;
}

}  // namespace krux::mcp
