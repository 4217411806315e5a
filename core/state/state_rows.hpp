// The rows of what agents note for good. Internal to the room; inside a transaction.
#pragma once

#include "core/state/state_store.hpp"
#include "core/storage/statement.hpp"

namespace krux {

struct StateRequest {
  StateWrite write;
  std::string hash;  ///< of what was asked for; where there is an idempotency_key
  std::int64_t now_ms = 0;
};

/// Throws as StateStore::write() says.
StateWritten write_state(StatementCache& sql, const StateRequest& request, const StateLimits& limits);

/// Receipts that are too old, whoever's they are, and of this agent those beyond the newest kReceiptsPerAgent.
void forget_receipts(StatementCache& sql, const std::string& agent_id, std::int64_t now_ms);

}  // namespace krux
