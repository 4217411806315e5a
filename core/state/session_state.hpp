// What agents note for the time of a session, in memory: gone with the session, and with the host's end.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/state/state_entry.hpp"
#include "core/util/clock.hpp"

namespace krux {

/// Any thread. Throws krux::Error InvalidInput where a limit is reached.
class SessionState {
 public:
  struct Of {
    std::string agent_id, session_id;
    bool operator<(const Of& other) const {
      return std::tie(agent_id, session_id) < std::tie(other.agent_id, other.session_id);
    }
  };

  SessionState(const Clock& clock, StateLimits limits) : clock_(clock), limits_(limits) {}

  StateEntry set(const Of& of, const std::string& key, std::string value_json);
  std::optional<StateEntry> get(const Of& of, const std::string& key) const;
  /// False: there was nothing.
  bool remove(const Of& of, const std::string& key);
  /// How many.
  std::int64_t clear(const Of& of, const std::string& prefix);
  std::vector<StateEntry> list(const Of& of, const StateListing& listing) const;

  void session_ended(const std::string& agent_id, const std::string& session_id);

 private:
  using Entries = std::map<std::string, StateEntry>;
  struct Use {
    std::int64_t keys = 0, bytes = 0;
  };
  void forget(const std::string& agent_id, const StateEntry& entry);

  const Clock& clock_;
  const StateLimits limits_;
  mutable std::mutex mutex_;
  std::map<Of, Entries> sessions_;
  std::map<std::string, Use> uses_;  ///< by agent
};

}  // namespace krux
