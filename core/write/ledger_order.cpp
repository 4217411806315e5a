#include "core/write/ledger_order.hpp"

#include <algorithm>
#include <limits>

namespace krux {

Turn turn_of(StatementCache& sql, const LedgerRow& row, std::int64_t now_ms, std::int64_t order_wait_ms) {
  const auto& w = row.write;
  auto& before = sql.get(
      "SELECT attempts, first_attempt_at_ms, due_at_ms, state, reconcile_first FROM writes INDEXED BY writes_in_line "
      "WHERE "
      "ordering_key = ?1 AND ended_at_ms IS NULL AND (held_as_copy = 0 OR release_wanted = 1) AND "
      "(buffer_until_ms, seq) < (?2, ?3) ORDER BY buffer_until_ms, seq");
  before.bind_all(w.ordering_key, w.buffer_until_ms, w.seq);
  const ResetAtEnd reset(before);
  Turn turn;
  while (before.step()) {
    // What was claimed and never begun is looked for first, and has not been tried either.
    const bool untried = before.integer(0) == 0 || before.integer(4) == 1;
    // One that nobody carries out, whatever time passes, holds up nobody.
    if (untried && before.is_null(2)) continue;
    // A shorter wait is for what failed: it does not give up the order of what goes well.
    const bool under_way = before.text(3) == to_string(WriteState::kExecuting);
    const auto wait_ms = under_way ? std::max(order_wait_ms, kOrderWaitMs) : order_wait_ms;
    const auto patience = before.integer(1) + wait_ms - now_ms;
    if (untried || patience > 0) {
      turn.put_off_ms = untried ? std::max(order_wait_ms, kOrderWaitMs) : patience;
      return turn;
    }
    turn.out_of_order = true;
  }
  return turn;
}

void call_next(StatementCache& sql, const WriteRecord& write) {
  // Who waits in line is past its window: rows behind the present moment need not be looked at.
  const auto until = write.ended_at_ms > 0 ? write.ended_at_ms : std::numeric_limits<std::int64_t>::max();
  sql.get(
         "UPDATE writes SET due_at_ms = buffer_until_ms, due_boot_ms = 0, waits_in_line = 0 WHERE seq = "
         "(SELECT seq FROM writes INDEXED BY writes_in_line WHERE ordering_key = ?1 AND ended_at_ms IS NULL AND "
         "buffer_until_ms <= ?2 AND waits_in_line = 1 ORDER BY buffer_until_ms, seq LIMIT 1)")
      .bind_all(write.ordering_key, until)
      .run();
}

}  // namespace krux
