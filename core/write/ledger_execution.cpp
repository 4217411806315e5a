// The executor's part of the ledger: attempts, outcomes, recovery. What it claims: ledger_claim.cpp.
#include <algorithm>

#include "core/util/json.hpp"
#include "core/write/copies.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/ledger_history.hpp"
#include "core/write/ledger_order.hpp"

namespace krux {
namespace {

constexpr std::size_t kLargestNote = 64 * 1024;

bool contains(const std::vector<std::int64_t>& all, std::int64_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::int64_t> executing(StatementCache& sql) {
  std::vector<std::int64_t> found;
  auto& rows = sql.get("SELECT seq FROM writes WHERE state = 'executing' AND state <> 'buffered'");
  while (rows.step()) found.push_back(rows.integer(0));
  return found;
}

Error attempt_has_ended(const std::string& write_id, std::uint32_t attempt) {
  return conflict("Attempt " + std::to_string(attempt) + " of write " + write_id + " has ended.");
}

}  // namespace

/// An attempt of an earlier run, or one of this run that nobody was called for, since its claim seemed to have failed.
WriteRecord Ledger::recover_one(StatementCache& sql, std::int64_t seq, bool host_started,
                                std::optional<std::int64_t> settle_ms) const {
  auto row = row_of_seq(sql, seq);
  auto& w = row.write;
  const bool never_called = !host_started || (w.begun_attempt < w.attempts && row.boot == boot_);
  const auto event = never_called ? WriteEvent::kCertainlyNotDone : WriteEvent::kHostStarted;
  apply(row, event, ErrorCode::kConflictError);
  row.owner_epoch = 0;  // its settle time begins here, and a further start does not begin it again
  if (never_called) {
    w.error_type = ErrorCode::kWriteFailed;
    w.error_message = "The host stopped or lost its store before the adapter was called.";
    set_due(row, 0);
  } else {
    w.looks = 0;
    w.unknown_since_ms = clock_.wall_ms();
    w.error_type = ErrorCode::kOutcomeUnknown;
    w.error_message = "The host stopped or lost its store while the write was under way.";
    set_due(row, settle_ms.value_or(w.settle_ms));
  }
  update_row(sql, row);
  end_attempt(sql, row, clock_.wall_ms(), to_string(event), never_called ? "nothing_sent" : "", w.error_message);
  return w;
}

/// A look waits until no request of the run that made the attempt can be under way: once, after that run has ended.
void Ledger::settle_anew(StatementCache& sql, std::optional<std::int64_t> settle_ms) const {
  sql.get(
         "UPDATE writes SET due_at_ms = ?1 + coalesce(nullif(?3, -1), settle_ms), "
         "due_boot_ms = ?2 + coalesce(nullif(?3, -1), settle_ms), boot = ?4, owner_epoch = NULL "
         "WHERE state = 'unknown' AND state <> 'buffered' AND due_at_ms IS NOT NULL AND looks = 0 AND escalated = 0 "
         "AND owner_epoch IS NOT NULL AND held_as_copy = 0")
      .bind_all(clock_.wall_ms(), clock_.boot_ms(), settle_ms.value_or(-1), boot_)
      .run();
}

std::size_t Ledger::recover(bool host_started, std::optional<std::int64_t> settle_ms,
                            std::vector<std::int64_t> in_flight) {
  using Writes = std::vector<WriteRecord>;
  const auto found = commit_and_wait<Writes>(
      {"write.recover.before_commit", "write.recover.after_commit"},
      [this, host_started, settle_ms, in_flight = std::move(in_flight)](StatementCache& sql) {
        if (host_started) settle_anew(sql, settle_ms);
        Writes recovered;
        for (const auto seq : executing(sql)) {
          if (!contains(in_flight, seq)) recovered.push_back(recover_one(sql, seq, host_started, settle_ms));
        }
        // Also of what was claimed and not begun: that proves something of this ledger, and nothing of its original.
        if (host_started) reconcile_first(sql);
        return recovered;
      },
      [listeners = listeners_, &clock = clock_](const Writes& recovered) {
        for (const auto& write : recovered) listeners->changed(write, clock);
      });
  return found.size();
}

void Ledger::keep_rollback_point(const std::string& write_id, std::uint32_t attempt, const std::string& point_json) {
  const bool says_nothing = point_json.empty() || point_json == "{}";
  const auto keep = [this, write_id, attempt, point_json](StatementCache& sql) {
    sql.get(
           "UPDATE writes SET point_json = coalesce(point_json, nullif(?5, '')), begun_attempt = ?3 WHERE seq = ?1 AND "
           "write_id = ?2 AND attempts = ?3 AND owner_epoch = ?4 AND state = 'executing'")
        .bind_all(seq_of_id(write_id), write_id, std::int64_t{attempt}, epoch_, point_json)
        .run();
    if (sqlite3_changes(sql.db()) == 0) throw attempt_has_ended(write_id, attempt);
    return true;
  };
  commit_and_wait<bool>({"write.rollback_point.before_commit", "write.rollback_point.after_commit",
                         says_nothing ? GroupCommit::Outlasts::kProcess : GroupCommit::Outlasts::kPowerCut},
                        keep);
}

bool Ledger::keep_note(const std::string& write_id, std::uint32_t attempt, std::string_view note_json) {
  if (!is_json_object(note_json, {kLargestNote, 32})) return false;
  try {
    return commit_and_wait<bool>(
        {"write.remember.before_commit", "write.remember.after_commit"},
        [this, write_id, attempt, note = std::string(note_json)](StatementCache& sql) {
          sql.get(
                 "UPDATE writes SET note_json = ?5 WHERE seq = ?1 AND write_id = ?2 AND attempts = ?3 AND "
                 "owner_epoch = ?4 AND state = 'executing'")
              .bind_all(seq_of_id(write_id), write_id, std::int64_t{attempt}, epoch_, note)
              .run();
          return sqlite3_changes(sql.db()) > 0;
        });
  } catch (const Error&) {
    return false;
  }
}

Ledger::Recorded Ledger::record_one(StatementCache& sql, const WriteReport& report) const {
  const bool of_attempt = report.of == WriteReport::Of::kAttempt;
  auto row = must_have_row(sql, report.write_id);
  auto& w = row.write;
  // A look says nothing about a later attempt; an attempt's outcome counts once, in the run that claimed it.
  const bool ours = w.state == WriteState::kExecuting && row.owner_epoch == epoch_;
  if (w.attempts != report.attempt || (of_attempt && !ours)) {
    throw attempt_has_ended(report.write_id, report.attempt);
  }
  if (report.event == WriteEvent::kCopyReconciled && w.held_as_copy)
    return record_evidence(sql, std::move(row), report);
  const auto now = clock_.wall_ms();
  const bool was_told = w.escalated;
  // Released while it was looked for: what was found then counts as for any other write, and nothing is sent again.
  const bool found_behind = report.event == WriteEvent::kCopyReconciled && report.evidence == "found";
  const auto event = found_behind ? WriteEvent::kEffectFound : report.event;
  const bool first_look = w.reconcile_first && !w.held_as_copy;
  apply(row, event, ErrorCode::kConflictError);
  // An edit may have begun the window anew while it was looked for: a look never shortens that.
  const bool in_window = first_look && w.due_at_ms > now + report.due_in_ms.value_or(0);
  if (!has_ended(w.state) && !report.keeps_due && !in_window) set_due(row, report.due_in_ms);
  row.waits_for_connection = report.waits_for_connection && !in_window && !has_ended(w.state);
  if (w.state == WriteState::kUnknown && of_attempt) {
    w.looks = 0;
    w.unknown_since_ms = now;
  }
  if (report.uses_try) ++w.tries;
  if (!of_attempt && report.counts_look) ++w.looks;
  if (w.state == WriteState::kCompleted) w.result_json = report.result_json;
  // A late look that has nothing new to say about the write leaves what the person was told. A look at a copy, or
  // before the first attempt, says nothing about why the write stands where it does.
  const bool told_anew = report.alert && report.alert->write_id == w.write_id;
  const bool says_why = !w.held_as_copy && (!first_look || has_ended(w.state));
  if (says_why && (!was_told || !w.escalated || told_anew)) {
    w.error_type = report.error_type;
    w.error_message = report.error_message;
  }
  if (of_attempt) {
    end_attempt(sql, row, now, to_string(report.event), report.wire, report.error_message);
  } else {
    add_look(sql, w, report, event);
  }
  // Also before another alert: what was told last is what counts.
  if (was_told && (!w.escalated || told_anew)) close_alerts_of(sql.db(), w.write_id, "host", now);
  if (report.alert) insert_alert(sql.db(), *report.alert, now);
  std::vector<WriteRecord> others;
  follow_end(sql, w, others);
  update_row(sql, row);
  // It holds up those behind it for another time now.
  if (of_attempt && !w.ordering_key.empty() && !has_ended(w.state)) call_next(sql, w);
  if (auto undone = rolled_back_by(sql, w)) others.push_back(std::move(*undone));
  return {std::move(w), std::move(others)};
}

GroupCommit::Item Ledger::recording(Outcome outcome) {
  const bool of_attempt = outcome.report.of == WriteReport::Of::kAttempt;
  const Points points = of_attempt ? Points{"write.outcome.before_commit", "write.outcome.after_commit"}
                                   : Points{"write.look.before_commit", "write.look.after_commit"};
  return item<Recorded>(
      points, [this, report = std::move(outcome.report)](StatementCache& sql) { return record_one(sql, report); },
      announced_with_others(std::move(outcome.done)));
}

void Ledger::record(WriteReport report, Done<WriteRecord> done, CommitThread thread) {
  auto one = recording({std::move(report), std::move(done)});
  store_.post(std::move(one.operation), std::move(one.done), one.outlasts, thread);
}

void Ledger::connection_restored(const AccountRef& account) {
  commit_and_wait<bool>({"write.restore.before_commit", "write.restore.after_commit"}, [this,
                                                                                        account](StatementCache& sql) {
    sql.get(
           "UPDATE writes INDEXED BY writes_by_state SET due_at_ms = ?4, due_boot_ms = ?5, boot = ?6 WHERE state IN "
           "('pending_approval', 'held', 'dead_letter', 'unknown') AND state <> 'buffered' AND service = ?1 AND "
           "account_id = ?2 AND generation = ?3 AND due_at_ms IS NOT NULL AND (waits_for_connection = 1 OR "
           "(held_as_copy = 0 "
           "AND state = 'dead_letter' AND error_type = 'NotAuthenticated'))")
        .bind_all(account.service, account.account_id, std::int64_t{account.generation}, clock_.wall_ms(),
                  clock_.boot_ms(), boot_)
        .run();
    sql.get(
           "UPDATE writes INDEXED BY writes_due SET due_at_ms = ?4, due_boot_ms = ?5, boot = ?6 WHERE service = ?1 AND "
           "account_id = ?2 AND generation = ?3 AND (state = 'unknown' OR reconcile_first = 1) = 1 AND due_at_ms IS "
           "NOT "
           "NULL "
           "AND state = 'buffered' AND waits_for_connection = 1")
        .bind_all(account.service, account.account_id, std::int64_t{account.generation}, clock_.wall_ms(),
                  clock_.boot_ms(), boot_)
        .run();
    return true;
  });
}

}  // namespace krux
