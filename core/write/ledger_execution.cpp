// The executor's part of the ledger: claims, attempts, outcomes, recovery.
#include <algorithm>

#include "core/util/json.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"

namespace krux {
namespace {

constexpr std::size_t kLargestNote = 64 * 1024;

LedgerRow row_of_seq(StatementCache& sql, std::int64_t seq) {
  static const auto by_seq = select_rows("seq = ?1");
  auto& rows = sql.get(by_seq).bind_all(seq);
  const ResetAtEnd reset(rows);
  if (!rows.step()) throw database_error("The ledger lost a write between two statements.");
  return read_row(rows);
}

bool contains(const std::vector<std::int64_t>& all, std::int64_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::int64_t> executing(StatementCache& sql) {
  std::vector<std::int64_t> found;
  auto& rows = sql.get("SELECT seq FROM writes WHERE state = 'executing' AND state <> 'buffered'");
  while (rows.step()) found.push_back(rows.integer(0));
  return found;
}

void end_attempt(StatementCache& sql, std::int64_t seq, std::int64_t now, const char* outcome, const std::string& wire,
                 const std::string& message) {
  sql.get(
         "UPDATE attempts SET ended_at_ms = ?2, outcome = ?3, wire = nullif(?4, ''), message = nullif(?5, '') "
         "WHERE write_seq = ?1 AND kind = 'attempt' AND ended_at_ms IS NULL")
      .bind_all(seq, now, outcome, wire, message)
      .run();
}

Error attempt_has_ended(const std::string& write_id, std::uint32_t attempt) {
  return conflict("Attempt " + std::to_string(attempt) + " of write " + write_id + " has ended.");
}

}  // namespace

BufferedWrite Ledger::recover_one(StatementCache& sql, std::int64_t seq, std::optional<std::int64_t> settle_ms) const {
  auto row = row_of_seq(sql, seq);
  apply(row, WriteEvent::kHostStarted, "ConflictError");
  row.write.looks = 0;
  row.write.unknown_since_ms = clock_.wall_ms();
  row.write.error_type = "OutcomeUnknown";
  row.write.error_message = "The host stopped or lost its store while the write was under way.";
  set_due(row, settle_ms.value_or(row.write.settle_ms));
  update_row(sql, row);
  end_attempt(sql, seq, clock_.wall_ms(), to_string(WriteEvent::kHostStarted), {}, row.write.error_message);
  return row.write;
}

std::size_t Ledger::recover(bool host_started, std::optional<std::int64_t> settle_ms,
                            std::vector<std::int64_t> in_flight) {
  using Writes = std::vector<BufferedWrite>;
  const auto found = commit_and_wait<Writes>(
      {"write.recover.before_commit", "write.recover.after_commit"},
      [this, host_started, settle_ms, in_flight = std::move(in_flight)](StatementCache& sql) {
        if (host_started) {
          auto& restart = sql.get(
              "UPDATE writes SET due_at_ms = ?1 + coalesce(nullif(?3, -1), settle_ms), "
              "due_boot_ms = ?2 + coalesce(nullif(?3, -1), settle_ms), boot = ?4 "
              "WHERE state = 'unknown' AND state <> 'buffered' AND due_at_ms IS NOT NULL");
          restart.bind_all(clock_.wall_ms(), clock_.boot_ms(), settle_ms.value_or(-1), boot_).run();
        }
        Writes recovered;
        for (const auto seq : executing(sql)) {
          if (!contains(in_flight, seq)) recovered.push_back(recover_one(sql, seq, settle_ms));
        }
        return recovered;
      },
      [listeners = listeners_, &clock = clock_](const Writes& recovered) {
        for (const auto& write : recovered) listeners->changed(write, clock);
      });
  return found.size();
}

/// The earliest due of all accounts; of one account no more than there is room for, and `more`.
std::vector<Ledger::Candidate> Ledger::candidates(StatementCache& sql, std::span<const AccountRef> accounts, Room room,
                                                  std::size_t more) const {
  auto& rows = sql.get(
      "SELECT seq, due_at_ms FROM writes WHERE service = ?1 AND account_id = ?2 AND generation = ?3 AND "
      "(state = 'unknown') = ?4 AND due_at_ms <= ?5 AND (boot <> ?6 OR due_boot_ms <= ?7) ORDER BY due_at_ms LIMIT ?8");
  std::vector<Candidate> found;
  for (const auto& account : accounts) {
    for (const bool look : {false, true}) {
      const auto limit = look ? std::min(room.looks, room.all) : room.all;
      if (limit == 0) continue;
      rows.bind_all(account.service, account.account_id, std::int64_t{account.generation}, look ? 1 : 0,
                    clock_.wall_ms(), boot_, clock_.boot_ms(), static_cast<std::int64_t>(limit + more));
      while (rows.step()) found.push_back({rows.integer(0), rows.integer(1), look});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.due_at_ms < b.due_at_ms; });
  return found;
}

void Ledger::claim(StatementCache& sql, LedgerRow& row) const {
  const auto now = clock_.wall_ms();
  apply(row, WriteEvent::kClaim, "ConflictError");
  set_due(row, std::nullopt);
  row.owner_epoch = epoch_;
  ++row.write.attempts;
  if (row.write.first_attempt_at_ms == 0) row.write.first_attempt_at_ms = now;
  update_row(sql, row);
  sql.get("INSERT INTO attempts (write_seq, kind, number, started_at_ms, who) VALUES (?1, 'attempt', ?2, ?3, 'host')")
      .bind_all(row.write.seq, std::int64_t{row.write.attempts}, now)
      .run();
}

std::vector<BufferedWrite> Ledger::take(std::vector<AccountRef> accounts, Room room, std::vector<std::int64_t> busy) {
  using Writes = std::vector<BufferedWrite>;
  return commit_and_wait<Writes>(
      {"write.claim.before_commit", "write.claim.after_commit"},
      [this, accounts = std::move(accounts), room, busy = std::move(busy)](StatementCache& sql) {
        Writes taken;
        std::size_t looks = 0;
        for (const auto& candidate : candidates(sql, accounts, room, busy.size())) {
          if (taken.size() == room.all) break;
          if (contains(busy, candidate.seq) || (candidate.look && looks == room.looks)) continue;
          auto row = row_of_seq(sql, candidate.seq);
          if (candidate.look) {
            ++looks;
          } else {
            claim(sql, row);
          }
          taken.push_back(std::move(row.write));
        }
        return taken;
      },
      [listeners = listeners_, &clock = clock_](const Writes& taken) {
        for (const auto& write : taken) {
          if (write.state == WriteState::kExecuting) listeners->changed(write, clock);
        }
      });
}

void Ledger::keep_point(const std::string& write_id, std::uint32_t attempt, const std::string& point_json) {
  commit_and_wait<bool>({"write.point.before_commit", "write.point.after_commit"}, [this, write_id, attempt,
                                                                                    point_json](StatementCache& sql) {
    sql.get(
           "UPDATE writes SET point_json = coalesce(point_json, ?5) WHERE seq = ?1 AND write_id = ?2 AND attempts = ?3 "
           "AND owner_epoch = ?4 AND state = 'executing'")
        .bind_all(seq_of_id(write_id), write_id, std::int64_t{attempt}, epoch_, point_json)
        .run();
    if (sqlite3_changes(sql.db()) == 0) throw attempt_has_ended(write_id, attempt);
    return true;
  });
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
  static const auto by_id = select_rows(kById);
  auto& rows = sql.get(by_id).bind_all(seq_of_id(report.write_id), report.write_id);
  const ResetAtEnd reset(rows);
  const bool of_attempt = report.of == WriteReport::Of::kAttempt;
  if (!rows.step()) throw database_error("The ledger lost the write " + report.write_id + ".");
  auto row = read_row(rows);
  auto& w = row.write;
  // A look says nothing about a later attempt; an attempt's outcome counts once, in the run that claimed it.
  const bool ours = w.state == WriteState::kExecuting && row.owner_epoch == epoch_;
  if (w.attempts != report.attempt || (of_attempt && !ours)) {
    throw attempt_has_ended(report.write_id, report.attempt);
  }
  const auto now = clock_.wall_ms();
  const bool was_told = w.told_person;
  apply(row, report.event, "ConflictError");
  if (!has_ended(w.state)) set_due(row, report.due_in_ms);
  if (w.state == WriteState::kUnknown && of_attempt) {
    w.looks = 0;
    w.unknown_since_ms = now;
  }
  if (report.uses_try) ++w.tries;
  if (!of_attempt && report.counts_look) ++w.looks;
  if (w.state == WriteState::kCompleted) w.result_json = report.result_json;
  w.error_type = report.error_type;
  w.error_message = report.error_message;
  update_row(sql, row);
  if (of_attempt) {
    end_attempt(sql, w.seq, now, to_string(report.event), report.wire, report.error_message);
  } else {
    sql.get(
           "INSERT INTO attempts (write_seq, kind, number, started_at_ms, ended_at_ms, outcome, message, who) "
           "VALUES (?1, 'look', ?2, ?3, ?4, ?5, nullif(?6, ''), 'host')")
        .bind_all(w.seq, std::int64_t{report.attempt}, report.started_at_ms, now, to_string(report.event),
                  report.error_message)
        .run();
  }
  // Also before another alert: what was told last is what counts.
  if (was_told && (!w.told_person || report.alert)) close_alerts_of(sql.db(), w.write_id, "host", now);
  if (report.alert) insert_alert(sql.db(), *report.alert, now);
  auto undone = undone_by(sql, w);
  return {std::move(w), std::move(undone)};
}

void Ledger::record(WriteReport report, Done<BufferedWrite> done) {
  const bool of_attempt = report.of == WriteReport::Of::kAttempt;
  const Points points = of_attempt ? Points{"write.outcome.before_commit", "write.outcome.after_commit"}
                                   : Points{"write.look.before_commit", "write.look.after_commit"};
  commit<Recorded>(
      points, [this, report = std::move(report)](StatementCache& sql) { return record_one(sql, report); },
      announced_with_undone(std::move(done)));
}

void Ledger::connection_restored(const AccountRef& account) {
  commit_and_wait<bool>({"write.restore.before_commit", "write.restore.after_commit"}, [this,
                                                                                        account](StatementCache& sql) {
    // Of unknown writes those that were looked for before: their settle time is over.
    sql.get(
           "UPDATE writes INDEXED BY writes_by_state SET due_at_ms = ?4, due_boot_ms = ?5, boot = ?6 WHERE state IN "
           "('dead_letter', 'unknown') AND state <> 'buffered' AND service = ?1 AND account_id = ?2 AND "
           "generation = ?3 AND due_at_ms IS NOT NULL AND ((state = 'dead_letter' AND error_type = 'NotAuthenticated') "
           "OR (state = 'unknown' AND EXISTS (SELECT 1 FROM attempts a WHERE a.write_seq = writes.seq AND "
           "a.kind = 'look' AND a.number = writes.attempts)))")
        .bind_all(account.service, account.account_id, std::int64_t{account.generation}, clock_.wall_ms(),
                  clock_.boot_ms(), boot_)
        .run();
    return true;
  });
}

}  // namespace krux
