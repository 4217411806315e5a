// What agents note: for a session, for good, and for each other.
#pragma once

#include <memory>

#include "core/state/session_state.hpp"
#include "core/state/sessions.hpp"
#include "core/state/state_store.hpp"

namespace krux {

/// Any thread. One a ledger.
struct AgentState {
  StateStore kept;
  const std::shared_ptr<SessionState> of_sessions;  ///< shared with whoever is told that sessions end

  /// All three must outlive this.
  AgentState(GroupCommit& store, Clock& clock, SessionStore& sessions, StateLimits limits = {})
      : kept(store, clock, limits), of_sessions(std::make_shared<SessionState>(clock, limits)) {
    sessions.when_ended([state = of_sessions](const std::string& agent_id, const std::string& session_id) {
      state->session_ended(agent_id, session_id);
    });
  }
};

}  // namespace krux
