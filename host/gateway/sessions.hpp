// Agents' sessions, in memory: a restart ends them, agents then open new ones.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "core/util/clock.hpp"

namespace krux {

/// Any thread.
class Sessions {
 public:
  struct Limits {
    std::int64_t idle_ms = 24 * 3'600'000;
    std::size_t per_agent = 256;  ///< one more ends the one that was idle longest
  };

  explicit Sessions(Clock& clock) : Sessions(clock, Limits()) {}
  Sessions(Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  /// "sess_..."
  std::string create(const std::string& agent_id);
  /// Whether it is this agent's and has not ended; if so, its idle time begins anew.
  bool use(const std::string& session_id, const std::string& agent_id);
  bool end(const std::string& session_id, const std::string& agent_id);

  std::int64_t idle_ms() const { return limits_.idle_ms; }
  std::size_t size() const;

 private:
  void drop_idle();
  void drop_one_of(const std::string& agent_id);

  struct Session {
    std::string agent_id;
    std::int64_t used_at_ms;  ///< since boot
  };
  using Map = std::map<std::string, Session>;
  Map::iterator find_live(const std::string& session_id, const std::string& agent_id);

  Clock& clock_;
  const Limits limits_;
  mutable std::mutex mutex_;
  Map sessions_;
};

}  // namespace krux
