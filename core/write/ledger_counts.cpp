#include "core/write/ledger_counts.hpp"

namespace krux {
namespace {

bool waits_for_operator(const WritePhase& phase) {
  return phase.escalated || (phase.held_as_copy && !phase.release_wanted) ||
         phase.state == WriteState::kPendingApproval;
}

void add_to_counter(StatementCache& sql, const char* what, std::int64_t n) {
  if (n != 0) sql.get("UPDATE counters SET n = n + ?2 WHERE what = ?1").bind_all(what, n).run();
}

}  // namespace

void count_change(StatementCache& sql, const std::optional<WritePhase>& before, const WritePhase& now) {
  if (!before || before->state != now.state) {
    if (before) add_to_counter(sql, to_string(before->state), -1);
    add_to_counter(sql, to_string(now.state), 1);
  }
  const auto change = [&before, &now](auto is) { return int{is(now)} - int{before && is(*before)}; };
  add_to_counter(sql, "needs_operator", change(waits_for_operator));
  add_to_counter(sql, "held_as_copy", change([](const WritePhase& phase) { return phase.held_as_copy; }));
}

void count_moved(StatementCache& sql, WriteState before, WriteState now, std::int64_t rows) {
  if (before == now) return;
  add_to_counter(sql, to_string(before), -rows);
  add_to_counter(sql, to_string(now), rows);
}

void count_held_anew(StatementCache& sql) {
  sql.get(
         "UPDATE counters SET n = CASE what WHEN 'held_as_copy' THEN "
         "(SELECT count(*) FROM writes WHERE held_as_copy = 1) ELSE "
         "(SELECT count(*) FROM writes WHERE needs_operator = 1) END WHERE what IN ('held_as_copy', 'needs_operator')")
      .run();
}

}  // namespace krux
