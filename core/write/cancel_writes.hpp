// What becomes of the writes of an agent that is shut out, or of an account that is disconnected.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/write/ledger.hpp"

namespace krux {

struct CancelledWrites {
  std::int64_t cancelled = 0;
  std::int64_t left = 0;  ///< open ones that have begun, or that an earlier attempt may have carried out
};

/// Cancels all of the agent's writes that can still be cancelled; its key must have ended before. `who`:
/// "operator:<user>". Blocks. Throws krux::Error DatabaseError; what was cancelled by then stays so.
CancelledWrites cancel_writes_of(Ledger& ledger, const std::string& agent_id, const std::string& who);

/// The same for those of `of` (agent, service, account). `before` is given each page of writes before it is cancelled.
CancelledWrites cancel_writes(Ledger& ledger, const WriteFilter& of, const std::string& who,
                              const std::function<void(const std::vector<WriteRecord>&)>& before = {});

}  // namespace krux
