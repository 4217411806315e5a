// When agents have called what rules ask about, in kruxos.db: the agent's and no session's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

/// Any thread. One a ledger.
class AgentCalls {
 public:
  /// What is there from before is known again: of each capability and agent the last kMostCalls, kLongestHistory long.
  /// Throws krux::Error DatabaseError. Both must outlive this.
  AgentCalls(GroupCommit& store, const Clock& clock);
  ~AgentCalls();

  /// A call that has succeeded: a read that is answered, a write that is accepted. Known at once; durable with whatever
  /// is posted to the store after this: nobody waits for it.
  /// `at_ms`: of a write when it was accepted, by which it is told apart later.
  void note(const std::string& agent_id, const std::string& capability, std::int64_t at_ms);

  struct Found {
    std::int64_t count = 0;  ///< of each capability up to kMostCalls
    std::string last;        ///< the capability that was called last
    std::int64_t last_ms = 0;
  };
  /// Which calls are asked for: of capabilities that fit one of the patterns, between these times (both left out).
  struct Asked {
    const std::vector<std::string>& patterns;
    std::int64_t after_ms, before_ms;
    std::string_view own{};   ///< but for one call of this capability at `own_ms`: the write that asks
    std::int64_t own_ms = 0;  ///< 0: none
  };
  Found find(std::string_view agent_id, const Asked& asked) const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace krux
