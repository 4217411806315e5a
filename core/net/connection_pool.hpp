// Idle connections, by origin.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/net/connection.hpp"

namespace krux {

/// Any thread.
class ConnectionPool {
 public:
  using Milliseconds = std::chrono::milliseconds;
  explicit ConnectionPool(Milliseconds keep) : keep_(keep) {}

  /// The youngest idle connection to `origin` that is at most `max_idle` old and still open, or nullptr.
  std::unique_ptr<WireConnection> take(const std::string& origin, Milliseconds max_idle);
  void put(const std::string& origin, std::unique_ptr<WireConnection> connection);

 private:
  static constexpr std::size_t kMostPerOrigin = 8;
  struct Idle {
    std::unique_ptr<WireConnection> connection;
    std::chrono::steady_clock::time_point since;
  };
  void drop_old(std::chrono::steady_clock::time_point now);

  const Milliseconds keep_;
  std::mutex mutex_;
  std::map<std::string, std::list<Idle>> idle_;  ///< each list: youngest first
};

}  // namespace krux
