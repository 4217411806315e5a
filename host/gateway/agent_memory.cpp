#include "host/gateway/agent_memory.hpp"

#include <map>
#include <mutex>

namespace krux {

struct MemoryShare::Account {
  explicit Account(MemoryLimits l) : limits(l) {}

  const MemoryLimits limits;
  std::mutex mutex;  ///< over what follows
  std::map<std::string, std::size_t> of_agents;
  std::size_t of_all = 0;
};

MemoryShare::~MemoryShare() {
  const std::lock_guard lock(account_->mutex);
  account_->of_all -= bytes_;
  const auto at = account_->of_agents.find(agent_id_);
  if (at == account_->of_agents.end()) return;
  at->second -= bytes_;
  if (at->second == 0) account_->of_agents.erase(at);
}

bool MemoryShare::grow(std::size_t bytes) {
  const std::lock_guard lock(account_->mutex);
  const auto& limits = account_->limits;
  const auto at = account_->of_agents.find(agent_id_);
  const auto of_agent = (at == account_->of_agents.end() ? 0 : at->second) + bytes;
  const auto of_all = account_->of_all + bytes;
  if (of_agent > limits.of_agent || (of_all > limits.of_all && of_agent > limits.of_agent_always)) return false;
  account_->of_agents[agent_id_] = of_agent;
  account_->of_all = of_all;
  bytes_ += bytes;
  return true;
}

AgentMemory::AgentMemory(MemoryLimits limits) : account_(std::make_shared<MemoryShare::Account>(limits)) {}

std::shared_ptr<MemoryShare> AgentMemory::take(const std::string& agent_id, std::size_t bytes) {
  std::shared_ptr<MemoryShare> share(new MemoryShare(account_, agent_id));
  return share->grow(bytes) ? share : nullptr;
}

std::size_t AgentMemory::taken() const {
  const std::lock_guard lock(account_->mutex);
  return account_->of_all;
}

}  // namespace krux
