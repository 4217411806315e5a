#include "core/write/open_writes.hpp"

#include <algorithm>

#include "core/write/ledger.hpp"

namespace krux {
namespace {

/// An agent that writes all the time is loaded in the end; what it misses of these writes is a moment's state.
constexpr int kMostTries = 5;

/// Whether a reader may miss its effect although it has ended.
bool has_effect(WriteState state) {
  return state == WriteState::kCompleted || state == WriteState::kRolledBack;
}

/// Orders by admission, whatever ids begin with.
std::string key_of(const std::string& write_id) {
  return write_id.substr(write_id.find('_'));
}

OpenWrite small(const WriteRecord& w) {
  return {w.write_id, w.operation,     w.summary,         w.target,     w.account,
          w.state,    w.created_at_ms, w.buffer_until_ms, w.ended_at_ms};
}

template <class Wanted>
std::vector<WriteRecord> newest(Ledger& ledger, const std::string& agent_id, std::size_t most, Wanted wanted) {
  WriteFilter filter;
  filter.agent_id = agent_id;
  filter.limit = static_cast<std::int64_t>(most);
  for (int i = 0; i < kWriteStates; ++i) {
    if (wanted(static_cast<WriteState>(i))) filter.states.push_back(static_cast<WriteState>(i));
  }
  return ledger.list(filter);
}

bool is_part_of(const std::string& target, const std::string& whole) {
  return target.starts_with(whole) && (target.size() == whole.size() || target[whole.size()] == '/');
}

/// What a write makes, and what an undo takes away, has a name within what the write was sent to: "C1/170.1" in "C1".
bool may_be_about(const OpenWrite& write, const std::string& target) {
  if (target.empty() || is_part_of(write.target, target)) return true;
  const bool takes_away = write.write_id.starts_with("rb_") || write.write_id.starts_with("cu_");
  return (has_ended(write.state) || takes_away) && is_part_of(target, write.target);
}

}  // namespace

void OpenWrites::changed(const WriteRecord& write) {
  const std::lock_guard lock(mutex_);
  const auto at = agents_.find(write.agent_id);
  if (at == agents_.end()) {
    ++unseen_changes_[write.agent_id];  // the ledger is asked when the agent reads
    return;
  }
  auto& known = at->second;
  const auto key = key_of(write.write_id);
  known.open.erase(key);
  if (!has_ended(write.state)) {
    known.open.emplace(key, small(write));
    if (known.open.size() > kMostOpen) {
      known.open.erase(std::prev(known.open.end()));
      known.cut = true;
    }
  } else if (has_effect(write.state)) {
    known.ended.insert_or_assign(key, small(write));
    if (known.ended.size() > kMostEnded) known.ended.erase(std::prev(known.ended.end()));
  } else {
    known.ended.erase(key);
  }
}

/// Loads what the ledger has of an agent that has not read before. The ledger is asked without the lock; what changes
/// meanwhile makes it ask again.
OpenWrites::Known& OpenWrites::known(std::unique_lock<std::mutex>& lock, const std::string& agent_id) {
  for (int tries = 0;;) {
    if (const auto at = agents_.find(agent_id); at != agents_.end()) {
      // What was dropped may wait yet, and there is room for it again.
      if (!at->second.cut || at->second.open.size() > kMostOpen / 2) {
        recent_.splice(recent_.begin(), recent_, at->second.used);
        return at->second;
      }
      recent_.erase(at->second.used);
      agents_.erase(at);
    }
    const auto before = unseen_changes_[agent_id];
    lock.unlock();
    const auto open = newest(ledger_, agent_id, kMostOpen + 1, [](WriteState state) { return !has_ended(state); });
    const auto ended = newest(ledger_, agent_id, kMostEnded, has_effect);
    lock.lock();
    if (agents_.contains(agent_id) || (unseen_changes_[agent_id] != before && ++tries < kMostTries)) continue;
    unseen_changes_.erase(agent_id);
    recent_.push_front(agent_id);
    auto& known = agents_[agent_id];
    known.used = recent_.begin();
    for (const auto& write : open) known.open.emplace(key_of(write.write_id), small(write));
    for (const auto& write : ended) known.ended.emplace(key_of(write.write_id), small(write));
    known.cut = open.size() > kMostOpen;
    if (known.cut) known.open.erase(std::prev(known.open.end()));
    if (agents_.size() > kMostAgents) {
      agents_.erase(recent_.back());
      recent_.pop_back();
    }
    return known;
  }
}

OpenWritesFound OpenWrites::of(const std::string& agent_id, const AccountRef& account, const std::string& target,
                               std::int64_t through_ms) {
  std::unique_lock lock(mutex_);
  auto& known = this->known(lock, agent_id);
  std::erase_if(known.ended, [&](const auto& entry) {
    return entry.second.account == account && entry.second.ended_at_ms <= through_ms;
  });
  OpenWritesFound found;
  found.cut = known.cut;
  for (const auto* writes : {&known.open, &known.ended}) {
    for (const auto& [key, write] : *writes) {
      if (write.account != account || !may_be_about(write, target)) continue;
      if (found.writes.size() == kMostShown) {
        found.cut = true;
        break;
      }
      found.writes.push_back(write);
    }
  }
  std::sort(found.writes.begin(), found.writes.end(),
            [](const auto& a, const auto& b) { return key_of(a.write_id) > key_of(b.write_id); });
  return found;
}

bool OpenWrites::any(const std::string& agent_id) {
  std::unique_lock lock(mutex_);
  const auto& known = this->known(lock, agent_id);
  return !known.open.empty() || !known.ended.empty();
}

}  // namespace krux
