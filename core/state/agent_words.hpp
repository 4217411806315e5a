// The words of what agents have read within some hours, as hashes, in kruxos.db: the agent's and no session's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/agent_reads.hpp"
#include "core/state/word_runs.hpp"
#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

/// Any thread. One a ledger.
class AgentWords {
 public:
  struct Limits {
    std::int64_t keep_ms = 8 * 3'600'000LL;     ///< since it was read last
    std::size_t runs = 250'000, reads = 2'000;  ///< of an agent; of more it is known that there were more
    std::size_t per_read = 20'000;              ///< runs
    std::int64_t renewed_ms = 5 * 60'000LL;     ///< what is read again within this time is not stored anew
  };
  /// What is there from before is known again. Throws krux::Error DatabaseError. Both must outlive this.
  AgentWords(GroupCommit& store, Clock& clock) : AgentWords(store, clock, Limits()) {}
  AgentWords(GroupCommit& store, Clock& clock, Limits limits);
  ~AgentWords();

  /// As AgentReads::note().
  void note(const std::string& agent_id, const ReadSource& source, std::string_view result_json);

  struct Found {
    ReadSource source;
    std::int64_t first_ms = 0;  ///< when the agent has read it first, as far as that is kept
    std::vector<WordRun> runs;  ///< of those that were asked for: that stand there
  };
  /// What the agent had read by `at_ms` (0: by now) that has one of the runs: each source once, at most `most`.
  std::vector<Found> find(std::string_view agent_id, const WordRuns& runs, std::int64_t at_ms, std::size_t most) const;
  /// As AgentReads::has_forgotten().
  bool has_forgotten(std::string_view agent_id, std::int64_t at_ms) const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace krux
