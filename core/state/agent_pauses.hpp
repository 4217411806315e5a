// Agents that an operator has paused, in kruxos.db. What a pause holds of their writes: core/write/due_writes.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"

namespace krux {

class GroupCommit;

struct AgentPause {
  std::string agent_id;  ///< empty: all agents, also those that are made later
  std::int64_t paused_at_ms = 0;
  std::string paused_by, reason;  ///< `reason`: may be empty
};

/// What a call of an agent that it holds is answered with.
Error paused_error(const AgentPause& pause);

/// Any thread. An agent's own pause and that of all stand beside each other: neither begins or ends the other. Throws
/// krux::Error: InvalidInput (too long a reason), DatabaseError; nothing has changed then. One a ledger.
class AgentPauses {
 public:
  AgentPauses(GroupCommit& store, Clock& clock);

  /// Durable, and in force for whoever asks, when it returns. One that stands already stays as it is, and is answered.
  AgentPause pause(const std::string& agent_id, const std::string& reason, const std::string& who);
  /// False: there was no such pause.
  bool resume(const std::string& agent_id, const std::string& who);
  /// That very pause; of all where `agent_id` is empty.
  std::optional<AgentPause> of(const std::string& agent_id) const;
  /// What holds the agent: its own pause, else that of all. From memory: asked with every call.
  std::optional<AgentPause> holding(const std::string& agent_id) const;
  /// `told` runs behind each pause and resumption, on the thread of the call. To be set before the first of them.
  void when_changed(std::function<void()> told) { changed_ = std::move(told); }

  static constexpr std::size_t kLongestReason = 500;

 private:
  GroupCommit& store_;
  Clock& clock_;
  std::mutex changing_;  ///< held by who changes one: database and memory together
  mutable std::shared_mutex mutex_;
  std::map<std::string, AgentPause> pauses_;
  std::atomic<bool> any_{false};
  std::function<void()> changed_;
};

}  // namespace krux
