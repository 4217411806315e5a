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
  AgentCalls(GroupCommit& store, Clock& clock);
  ~AgentCalls();

  /// A call that has succeeded: a read that is answered, a write that is accepted. Known at once; durable with whatever
  /// is posted to the store after this: nobody waits for it.
  void note(const std::string& agent_id, const std::string& capability);

  struct Found {
    std::int64_t count = 0;  ///< of each capability up to kMostCalls
    std::string last;        ///< the capability that was called last
    std::int64_t last_ms = 0;
  };
  /// The calls of capabilities that fit one of the patterns, later than `after_ms` and earlier than `before_ms`.
  Found find(std::string_view agent_id, const std::vector<std::string>& patterns, std::int64_t after_ms,
             std::int64_t before_ms) const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace krux
