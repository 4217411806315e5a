// What agents have done lately that rules ask about.
#pragma once

#include "core/state/agent_calls.hpp"
#include "core/state/agent_reads.hpp"
#include "core/state/agent_words.hpp"

namespace krux {

/// Any thread. One a ledger.
struct AgentHistory {
  AgentReads reads;
  AgentCalls calls;
  AgentWords words;

  /// Throws krux::Error DatabaseError. Both must outlive this.
  AgentHistory(GroupCommit& store, Clock& clock) : reads(store, clock), calls(store, clock), words(store, clock) {}
};

}  // namespace krux
