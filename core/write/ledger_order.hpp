// The order of writes: those of one lane go out by the end of their window, then by their admission. Internal to the
// ledger.
#pragma once

#include <cstdint>
#include <optional>

#include "core/storage/statement.hpp"
#include "core/write/ledger_rows.hpp"

namespace krux {

/// Whether it is a due write's turn.
struct Turn {
  std::optional<std::int64_t>
      put_off_ms;             ///< not yet: to be asked again in so many milliseconds, or when one has ended
  bool out_of_order = false;  ///< it is, although a write before it has not ended
};

/// Of a row with a lane. What stands before it holds it up while it waits for its own turn, and until `order_wait_ms`
/// after its first attempt (kOrderWaitMs at least while an attempt is under way).
Turn turn_of(StatementCache& sql, const LedgerRow& row, std::int64_t now_ms, std::int64_t order_wait_ms);

/// `write` left its lane or gave way in it: the first that waits in line is due at once.
void call_next(StatementCache& sql, const WriteRecord& write);

}  // namespace krux
