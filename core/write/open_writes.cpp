#include "core/write/open_writes.hpp"

#include "core/write/ledger.hpp"

namespace krux {
namespace {

/// An agent that writes all the time is loaded in the end; what it misses of these writes is a moment's state.
constexpr int kMostTries = 5;

/// Whether a reader may miss its effect, now or later.
bool concerns_reader(const BufferedWrite& write) {
  return !has_ended(write.state) || write.state == WriteState::kCompleted || write.state == WriteState::kRolledBack;
}

/// Orders by admission, whatever ids begin with.
std::string key_of(const BufferedWrite& write) {
  return write.write_id.substr(write.write_id.find('_'));
}

OpenWrite small(const BufferedWrite& w) {
  return {w.write_id, w.operation,     w.summary,         w.target,     w.account,
          w.state,    w.created_at_ms, w.buffer_until_ms, w.ended_at_ms};
}

bool is_part_of(const std::string& target, const std::string& whole) {
  return target.starts_with(whole) && (target.size() == whole.size() || target[whole.size()] == '/');
}

}  // namespace

void OpenWrites::changed(const BufferedWrite& write) {
  const std::lock_guard lock(mutex_);
  const auto at = agents_.find(write.agent_id);
  if (at == agents_.end()) {
    ++unseen_changes_[write.agent_id];  // the ledger is asked when the agent reads
    return;
  }
  auto& writes = at->second.writes;
  const auto key = key_of(write);
  if (!concerns_reader(write)) {
    writes.erase(key);
    return;
  }
  writes.insert_or_assign(key, small(write));
  if (writes.size() > kMostWrites) writes.erase(std::prev(writes.end()));
}

/// Loads what the ledger has of an agent that has not read before. The ledger is asked without the lock; what changes
/// meanwhile makes it ask again.
OpenWrites::Known& OpenWrites::known(std::unique_lock<std::mutex>& lock, const std::string& agent_id) {
  for (int tries = 0;;) {
    if (const auto at = agents_.find(agent_id); at != agents_.end()) {
      recent_.splice(recent_.begin(), recent_, at->second.used);
      return at->second;
    }
    const auto before = unseen_changes_[agent_id];
    lock.unlock();
    WriteFilter filter;
    filter.agent_id = agent_id;
    filter.limit = static_cast<std::int64_t>(kMostWrites);
    for (int i = 0; i < kWriteStates; ++i) {
      BufferedWrite one;
      one.state = static_cast<WriteState>(i);
      if (concerns_reader(one)) filter.states.push_back(one.state);
    }
    const auto found = ledger_.list(filter);
    lock.lock();
    if (agents_.contains(agent_id) || (unseen_changes_[agent_id] != before && ++tries < kMostTries)) continue;
    unseen_changes_.erase(agent_id);
    recent_.push_front(agent_id);
    auto& known = agents_[agent_id];
    known.used = recent_.begin();
    for (const auto& write : found) known.writes.emplace(key_of(write), small(write));
    if (agents_.size() > kMostAgents) {
      agents_.erase(recent_.back());
      recent_.pop_back();
    }
    return known;
  }
}

std::vector<OpenWrite> OpenWrites::of(const std::string& agent_id, const AccountRef& account, const std::string& target,
                                      std::int64_t through_ms) {
  std::unique_lock lock(mutex_);
  std::vector<OpenWrite> found;
  auto& writes = known(lock, agent_id).writes;
  std::erase_if(writes, [&](const auto& entry) {
    const auto& write = entry.second;
    return write.account == account && has_ended(write.state) && write.ended_at_ms <= through_ms;
  });
  for (const auto& [key, write] : writes) {
    if (write.account == account && (target.empty() || is_part_of(write.target, target))) found.push_back(write);
  }
  return found;
}

bool OpenWrites::any(const std::string& agent_id) {
  std::unique_lock lock(mutex_);
  return !known(lock, agent_id).writes.empty();
}

}  // namespace krux
