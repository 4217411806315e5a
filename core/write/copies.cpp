#include "core/write/copies.hpp"

#include <fmt/format.h>

#include "core/audit/outbox.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/write/alerts.hpp"
#include "core/write/ledger_counts.hpp"
#include "core/write/ledger_rows.hpp"
#include "core/write/standing_approvals.hpp"

namespace krux {
namespace {

constexpr const char* kAlertKind = "held_as_copy";

std::int64_t copies_held(StatementCache& sql) {
  auto& rows = sql.get("SELECT n FROM counters WHERE what = 'held_as_copy'");
  const ResetAtEnd reset(rows);
  return rows.step() ? rows.integer(0) : 0;
}

/// What was under way when the ledger was copied has no end.
void end_attempts(StatementCache& sql, std::int64_t now_ms) {
  sql.get(
         "INSERT INTO attempts (write_seq, nth, kind, number, started_at_ms, ended_at_ms, outcome, message, who) "
         "SELECT seq, (SELECT coalesce(max(nth), 0) + 1 FROM attempts WHERE write_seq = seq), 'attempt', attempts, "
         "coalesce(claimed_at_ms, 0), ?1, ?2, 'The data directory may be a copy, made while this was under way.', "
         "'host' FROM writes WHERE state = 'executing' AND state <> 'buffered'")
      .bind_all(now_ms, to_string(WriteEvent::kHeldAsCopy))
      .run();
}

/// So that an index finds them: buffered ones stand among what is due, or are held already.
std::string rows_in(WriteState state) {
  if (state != WriteState::kBuffered) return fmt::format("state = '{}' AND state <> 'buffered'", to_string(state));
  return "state = 'buffered' AND seq IN (SELECT seq FROM writes INDEXED BY writes_due WHERE due_at_ms IS NOT NULL "
         "UNION "
         "SELECT seq FROM writes INDEXED BY writes_held_as_copy WHERE held_as_copy = 1)";
}

/// All of one state in one statement; transition() says what becomes of it.
void hold_state(StatementCache& sql, WriteState state, const CopyHold& hold, const Clock& clock, std::int64_t boot) {
  // Those that are held already are looked for again: what their original did may have become another thing.
  const auto next = transition({state}, WriteEvent::kHeldAsCopy);
  const auto* phase = std::get_if<WritePhase>(&next);
  if (!phase || !phase->held_as_copy) throw database_error("A write that has not ended cannot be held.");
  sql.get(
         "INSERT INTO attempts (write_seq, nth, kind, number, started_at_ms, ended_at_ms, outcome, message, who) "
         "SELECT seq, (SELECT coalesce(max(nth), 0) + 1 FROM attempts WHERE write_seq = seq), 'decision', attempts, "
         "?1, ?1, ?2, ?3, 'host' FROM writes WHERE " +
         rows_in(state))
      .bind_all(clock.wall_ms(), to_string(WriteEvent::kHeldAsCopy), hold.reason)
      .run();
  put_all_in_outbox(sql, audit_kind(to_string(WriteEvent::kHeldAsCopy)), clock.wall_ms(),
                    fmt::format(R"({{"from":"{}","to":"{}","who":"host","reason":{}}})", to_string(state),
                                to_string(phase->state), json_string(hold.reason)),
                    rows_in(state));
  sql.get(
         "UPDATE writes SET held_as_copy = 1, reconcile_first = 1, release_wanted = 0, looks = 0, waits_in_line = 0, "
         "waits_for_connection = 0, "
         "owner_epoch = NULL, evidence = NULL, evidence_json = NULL, evidence_at_ms = NULL, unknown_since_ms = CASE "
         "WHEN state <> ?1 THEN ?2 ELSE unknown_since_ms END, state = ?1, due_at_ms = ?2 + coalesce(nullif(?4, -1), "
         "settle_ms), due_boot_ms = ?3 + coalesce(nullif(?4, -1), settle_ms), boot = ?5 WHERE " +
         rows_in(state))
      .bind_all(to_string(phase->state), clock.wall_ms(), clock.boot_ms(), hold.settle_ms.value_or(-1), boot)
      .run();
  count_moved(sql, state, phase->state, sqlite3_changes(sql.db()));
}

/// A cleanup leaves nothing to look for, and is harmless to repeat.
void spare_cleanups_the_look(StatementCache& sql, std::int64_t now_ms) {
  sql.get(
         "UPDATE writes SET reconcile_first = 0, due_at_ms = NULL, due_boot_ms = NULL, boot = NULL, evidence = "
         "'cannot_tell', evidence_at_ms = ?1 WHERE seq IN (SELECT seq FROM writes INDEXED BY writes_held_as_copy WHERE "
         "held_as_copy = 1) AND cleans IS NOT NULL")
      .bind_all(now_ms)
      .run();
}

}  // namespace

std::int64_t hold_copies(StatementCache& sql, const CopyHold& hold, const Clock& clock) {
  const auto boot = number_of_boot(sql, hold.boot_id);
  end_attempts(sql, clock.wall_ms());
  // What was executing becomes unknown: after those that were so before.
  for (int i = kWriteStates - 1; i >= 0; --i) {
    const auto state = static_cast<WriteState>(i);
    if (!has_ended(state)) hold_state(sql, state, hold, clock, boot);
  }
  spare_cleanups_the_look(sql, clock.wall_ms());
  count_held_anew(sql);
  end_all_standing(sql, "host", clock.wall_ms());
  const auto held = copies_held(sql);
  if (held == 0) return 0;
  insert_alert(
      sql.db(),
      {"critical", kAlertKind, "", "", "",
       fmt::format("This data directory may be a copy of one that went on. {} {} held, so that nothing is sent "
                   "twice: look at {} (kruxos held list), then release, complete or discard what you want to "
                   "become of it (kruxos held release|complete|discard). {}",
                   held, held == 1 ? "write is" : "writes are", held == 1 ? "it" : "them", hold.reason),
       true},
      clock.wall_ms());
  return held;
}

void keep_evidence(StatementCache& sql, WriteRecord& write, const std::string& evidence, const std::string& result_json,
                   std::int64_t now_ms) {
  write.evidence = evidence;
  write.evidence_json = evidence == "found" ? result_json : std::string();
  write.evidence_at_ms = now_ms;
  sql.get("UPDATE writes SET evidence = ?2, evidence_json = nullif(?3, ''), evidence_at_ms = ?4 WHERE seq = ?1")
      .bind_all(write.seq, evidence, write.evidence_json, now_ms)
      .run();
}

void settle_copies(StatementCache& sql, const std::string& who, std::int64_t now_ms) {
  if (copies_held(sql) > 0) return;
  sql.get(
         "UPDATE alerts SET acknowledged_at_ms = ?1, acknowledged_by = ?2 WHERE kind = ?3 AND acknowledged_at_ms IS "
         "NULL")
      .bind_all(now_ms, who, kAlertKind)
      .run();
}

}  // namespace krux
