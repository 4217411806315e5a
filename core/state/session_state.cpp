#include "core/state/session_state.hpp"

#include <algorithm>

namespace krux {
namespace {

constexpr const char* kYourSessions = "The state of your sessions has";

}  // namespace

StateEntry SessionState::set(const Of& of, const std::string& key, std::string value_json) {
  must_fit_value(limits_, value_json);
  const auto bytes = static_cast<std::int64_t>(key.size() + value_json.size());
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(of);
  const StateEntry* before = nullptr;
  if (session != sessions_.end()) {
    const auto at = session->second.find(key);
    if (at != session->second.end()) before = &at->second;
  }
  auto use = uses_[of.agent_id];
  use.keys += before ? 0 : 1;
  use.bytes += bytes - (before ? before->bytes : 0);
  if (use.keys > limits_.session_keys) throw_full_of_keys(kYourSessions, limits_.session_keys);
  if (use.bytes > limits_.session_bytes) throw_full_of_bytes(kYourSessions, limits_.session_bytes);
  uses_[of.agent_id] = use;
  auto& entry = sessions_[of][key];
  entry = {key, entry.version + 1, clock_.wall_ms(), of.agent_id, std::move(value_json), bytes};
  return entry;
}

std::optional<StateEntry> SessionState::get(const Of& of, const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(of);
  if (session == sessions_.end()) return std::nullopt;
  const auto at = session->second.find(key);
  return at == session->second.end() ? std::nullopt : std::optional(at->second);
}

/// Under the lock.
void SessionState::forget(const std::string& agent_id, const StateEntry& entry) {
  const auto use = uses_.find(agent_id);
  use->second.keys -= 1;
  use->second.bytes -= entry.bytes;
  if (use->second.keys == 0) uses_.erase(use);
}

bool SessionState::remove(const Of& of, const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(of);
  if (session == sessions_.end()) return false;
  const auto at = session->second.find(key);
  if (at == session->second.end()) return false;
  forget(of.agent_id, at->second);
  session->second.erase(at);
  if (session->second.empty()) sessions_.erase(session);
  return true;
}

std::int64_t SessionState::clear(const Of& of, const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(of);
  if (session == sessions_.end()) return 0;
  std::int64_t gone = 0;
  auto& entries = session->second;
  for (auto at = entries.lower_bound(prefix); at != entries.end() && at->first.starts_with(prefix);) {
    forget(of.agent_id, at->second);
    at = entries.erase(at);
    ++gone;
  }
  if (entries.empty()) sessions_.erase(session);
  return gone;
}

std::vector<StateEntry> SessionState::list(const Of& of, const StateListing& listing) const {
  std::vector<StateEntry> found;
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(of);
  if (session == sessions_.end()) return found;
  const auto& entries = session->second;
  const auto& first = std::max(listing.prefix, listing.after);
  for (auto at = entries.lower_bound(first); at != entries.end() && at->first.starts_with(listing.prefix); ++at) {
    if (static_cast<std::int64_t>(found.size()) >= listing.limit) break;
    const auto& entry = at->second;
    if (at->first <= listing.after || (listing.with_values && !fits_listing(listing, entry))) continue;
    auto& listed = found.emplace_back(
        StateEntry{entry.key, entry.version, entry.updated_at_ms, entry.updated_by, {}, entry.bytes});
    if (listing.with_values) listed.value_json = entry.value_json;
  }
  return found;
}

void SessionState::session_ended(const std::string& agent_id, const std::string& session_id) {
  clear({agent_id, session_id}, {});
}

}  // namespace krux
