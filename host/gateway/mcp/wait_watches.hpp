// Streams that tell of waits for writes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/gateway/agent_methods.hpp"
#include "host/gateway/mcp/task_view.hpp"

namespace krux::mcp {

/// Any thread.
class WaitWatches {
 public:
  struct One {
    One(AgentMethods::CallerPtr c, AwaitedWrite w, std::uint16_t port, std::function<void(const TaskView&)> t)
        : caller(std::move(c)), wait(std::move(w)), page_port(port), tell_(std::move(t)) {}
    const AgentMethods::CallerPtr caller;
    const AwaitedWrite wait;
    const std::uint16_t page_port;  ///< to which its client can lead; 0: it cannot
    /// Looks may come in another order than they were begun: behind the end nothing is told.
    void tell(const TaskView& task) {
      const std::lock_guard lock(mutex_);
      if (over_) return;
      over_ = has_ended(task.status);
      tell_(task);
    }

   private:
    std::mutex mutex_;
    bool over_ = false;  ///< under it
    const std::function<void(const TaskView&)> tell_;
  };

  /// Until nobody holds it any more.
  void add(const std::shared_ptr<One>& one) {
    const std::lock_guard lock(mutex_);
    by_write_.emplace(one->wait.write_id, one);
    if (by_write_.size() < next_sweep_) return;
    std::erase_if(by_write_, [](const auto& entry) { return entry.second.expired(); });
    next_sweep_ = 2 * by_write_.size() + kFewest;
  }
  /// Those of that write and agent. Asked at every change of every write: it looks at none of other writes.
  std::vector<std::shared_ptr<One>> of(const std::string& write_id, const std::string& agent_id) {
    std::vector<std::shared_ptr<One>> all;
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = by_write_.equal_range(write_id);
    for (auto at = begin; at != end; ++at) {
      if (auto one = at->second.lock(); one && one->caller->agent.agent_id == agent_id) all.push_back(std::move(one));
    }
    return all;
  }

  /// Entries, those that nobody holds any more among them.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return by_write_.size();
  }

  static constexpr std::size_t kFewest = 64;  ///< entries that are never swept

 private:
  mutable std::mutex mutex_;
  std::multimap<std::string, std::weak_ptr<One>> by_write_;
  std::size_t next_sweep_ = kFewest;  ///< at so many entries
};

}  // namespace krux::mcp
