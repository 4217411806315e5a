#include "core/net/connection_pool.hpp"

namespace krux {

std::unique_ptr<WireConnection> ConnectionPool::take(const std::string& origin, Milliseconds max_idle) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  drop_old(now);
  const auto found = idle_.find(origin);
  if (found == idle_.end()) return nullptr;
  auto& list = found->second;
  while (!list.empty() && now - list.front().since <= max_idle) {
    auto connection = std::move(list.front().connection);
    list.pop_front();
    if (connection->quiet()) return connection;
  }
  return nullptr;
}

void ConnectionPool::put(const std::string& origin, std::unique_ptr<WireConnection> connection) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  drop_old(now);
  auto& list = idle_[origin];
  list.push_front({std::move(connection), now});
  if (list.size() > kMostPerOrigin) list.pop_back();
}

void ConnectionPool::drop_old(std::chrono::steady_clock::time_point now) {
  for (auto entry = idle_.begin(); entry != idle_.end();) {
    auto& list = entry->second;
    while (!list.empty() && now - list.back().since > keep_) list.pop_back();
    entry = list.empty() ? idle_.erase(entry) : std::next(entry);
  }
}

}  // namespace krux
