// What agents' requests and answers take up of the host's memory, from the request's header until its answer is sent:
// an agent that does not read its answers is given no more of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace krux {

struct MemoryLimits {
  std::size_t of_agent = 64u << 20;
  std::size_t of_all = 256u << 20;
  std::size_t of_agent_always = 4u << 20;  ///< even where others have taken all
};

/// What one request takes up. Given back with its end.
class MemoryShare {
 public:
  ~MemoryShare();
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  /// So much more. False, and nothing is taken, where that is beyond a limit. Any thread.
  bool grow(std::size_t bytes);

 private:
  friend class AgentMemory;
  struct Account;
  MemoryShare(std::shared_ptr<Account> account, std::string agent_id)
      : account_(std::move(account)), agent_id_(std::move(agent_id)) {}

  const std::shared_ptr<Account> account_;  ///< of all agents
  const std::string agent_id_;
  std::size_t bytes_ = 0;  ///< under the account's lock
};

/// Any thread. Shares may outlive it.
class AgentMemory {
 public:
  explicit AgentMemory(MemoryLimits limits = {});

  /// Null where that is beyond a limit.
  std::shared_ptr<MemoryShare> take(const std::string& agent_id, std::size_t bytes);
  /// What all agents have together.
  std::size_t taken() const;

 private:
  const std::shared_ptr<MemoryShare::Account> account_;
};

}  // namespace krux
