// What becomes of an agent's writes when it is shut out.
#pragma once

#include <cstdint>
#include <string>

#include "core/write/write_buffer.hpp"

namespace krux {

struct CancelledWrites {
  std::int64_t cancelled = 0;
  std::int64_t left = 0;  ///< open ones that have begun, or that an earlier attempt may have carried out
};

/// Cancels all of the agent's writes that can still be cancelled; its key must have ended before. `who`:
/// "operator:<user>". Blocks. Throws krux::Error DatabaseError; what was cancelled by then stays so.
CancelledWrites cancel_writes_of(WriteBuffer& writes, const std::string& agent_id, const std::string& who);

}  // namespace krux
