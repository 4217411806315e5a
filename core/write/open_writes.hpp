// An agent's own writes that a read of its may not show yet.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/write/ledger.hpp"

namespace krux {

/// What a reader needs to know of a write; small, since many are kept.
struct OpenWrite {
  std::string write_id, operation, summary, target;
  AccountRef account;
  WriteState state = WriteState::kBuffered;
  std::int64_t created_at_ms = 0, buffer_until_ms = 0, ended_at_ms = 0;
};

struct OpenWritesFound {
  std::vector<OpenWrite> writes;  ///< newest first
  bool cut = false;               ///< there may be more
};

/// Of each agent that reads: the writes that have not ended, and the newest of those that were completed or undone and
/// may not be in the replica yet. Any thread. `ledger` must outlive it.
class OpenWrites {
 public:
  explicit OpenWrites(Ledger& ledger)
      : ledger_(ledger), changes_(ledger.observe([this](const auto& write) { changed(write); })) {}

  /// `target` empty: all; otherwise those about it or about a part of it ("C1" has the part "C1/170.1"), and undos and
  /// ended writes about what it is a part of, which may have made it or taken it away.
  /// What ended is shown until `through_ms`, up to which the replica has everything, has passed it; and gives way first
  /// where there are more than kMostShown. Throws krux::Error DatabaseError.
  OpenWritesFound of(const std::string& agent_id, const AccountRef& account, const std::string& target,
                     std::int64_t through_ms);
  /// Whether of() may have anything to say; cheap once the agent is known. Throws krux::Error DatabaseError.
  bool any(const std::string& agent_id);

  static constexpr std::size_t kMostAgents = 256, kMostOpen = 500, kMostEnded = 100, kMostShown = 100;

 private:
  using Newest = std::map<std::string, OpenWrite, std::greater<>>;  ///< by write_id: the newest first
  struct Known {
    Newest open, ended;
    bool cut = false;  ///< `open` does not hold all
    std::list<std::string>::iterator used;
  };
  void changed(const WriteRecord& write);
  Known& known(std::unique_lock<std::mutex>& lock, const std::string& agent_id);

  Ledger& ledger_;
  std::mutex mutex_;
  std::unordered_map<std::string, Known> agents_;
  std::list<std::string> recent_;                                  ///< agents, the last used one first
  std::unordered_map<std::string, std::uint64_t> unseen_changes_;  ///< of agents that are not known
  Ledger::Observation changes_;
};

}  // namespace krux
