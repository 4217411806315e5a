#include "core/write/ledger_rows.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/write/ledger_counts.hpp"
#include "core/write/ledger_order.hpp"

namespace krux {
namespace {

constexpr const char* kColumns =
    "seq, write_id, state, irrevocable, escalated, due_at_ms, due_boot_ms, boot, owner_epoch, attempts, tries, looks, "
    "immediate, created_at_ms, buffer_until_ms, delay_ms, settle_ms, first_attempt_at_ms, unknown_since_ms, "
    "ended_at_ms, "
    "agent_id, service, account_id, generation, operation, content_hash, idempotency_key, tier, definition_version, "
    "when_absent, summary, params_json, params_shown_json, note_json, point_json, result_json, error_type, "
    "error_message, "
    "decided_by, rolls_back, rollback_ms, target, counted_as, approval_reason, ordering_key, waits_in_line, "
    "out_of_order, "
    "cleanup, cleans, begun_attempt, waits_for_connection, held_as_copy, reconcile_first, evidence, evidence_json, "
    "evidence_at_ms, release_wanted, claimed_at_ms, send_at_ms, session_id, counted_at_ms, asked_by, "
    "approval_until_ms, standing_approval, approvals_needed";

/// Takes the columns of a row one after the other.
class Columns {
 public:
  explicit Columns(const Statement& row) : row_(row) {}
  std::int64_t integer() { return row_.integer(next_++); }
  std::uint32_t small() { return static_cast<std::uint32_t>(integer()); }
  bool flag() { return integer() != 0; }
  std::string text() { return std::string(row_.text(next_++)); }
  bool next_is_null() const { return row_.is_null(next_); }

 private:
  const Statement& row_;
  int next_ = 0;
};

WriteState state_from(const std::string& text) {
  const auto state = parse_write_state(text);
  if (!state) throw database_error("The ledger holds a write in a state that this program does not know: " + text);
  return *state;
}

Cleanup cleanup_from(const std::string& text) {
  for (const auto one : {Cleanup::kNone, Cleanup::kPossible, Cleanup::kPending, Cleanup::kDone, Cleanup::kLeft}) {
    if (text == to_string(one)) return one;
  }
  throw database_error("The ledger holds a cleanup that this program does not know: " + text);
}

const char* prefix_of(const WriteRecord& write) {
  return !write.cleans.empty() ? kCleanupPrefix : !write.rolls_back.empty() ? kRollbackPrefix : kIdPrefix;
}

void bind_nonzero(Statement& s, int index, std::int64_t value) {
  if (value) {
    s.bind(index, value);
  } else {
    s.bind(index, nullptr);
  }
}

void bind_nonempty(Statement& s, int index, std::string_view text) {
  if (text.empty()) {
    s.bind(index, nullptr);
  } else {
    s.bind(index, text);
  }
}

/// The first of kColumns: how far it has come.
void read_progress(Columns& c, LedgerRow& row) {
  auto& w = row.write;
  w.seq = c.integer();
  w.write_id = c.text();
  w.state = state_from(c.text());
  w.irrevocable = c.flag();
  w.escalated = c.flag();
  w.due_at_ms = c.integer();
  row.due_boot_ms = c.integer();
  row.boot = c.integer();
  row.owner_epoch = c.integer();
  w.attempts = c.small();
  w.tries = c.small();
  w.looks = c.small();
  w.immediate = c.flag();
  w.created_at_ms = c.integer();
  w.buffer_until_ms = c.integer();
  w.delay_ms = c.integer();
  w.settle_ms = c.integer();
  w.first_attempt_at_ms = c.integer();
  w.unknown_since_ms = c.integer();
  w.ended_at_ms = c.integer();
}

/// due_boot_ms and boot, which may be 0. The boot also tells of what is executing whether a power cut came in between.
void bind_due_clock(Statement& s, int& index, const LedgerRow& row) {
  const bool due = row.write.due_at_ms != 0;
  const auto bind_if = [&](bool has, std::int64_t value) {
    ++index;
    has ? s.bind(index, value) : s.bind(index, nullptr);
  };
  bind_if(due, row.due_boot_ms);
  bind_if(due || row.write.state == WriteState::kExecuting, row.boot);
}

}  // namespace

std::string select_rows(const std::string& where) {
  return std::string("SELECT ") + kColumns + " FROM writes WHERE " + where;
}

LedgerRow read_row(const Statement& statement) {
  LedgerRow row;
  auto& w = row.write;
  Columns c(statement);
  read_progress(c, row);
  w.agent_id = c.text();
  w.account.service = c.text();
  w.account.account_id = c.text();
  w.account.generation = c.small();
  w.operation = c.text();
  w.content_hash = c.text();
  w.idempotency_key = c.text();
  w.tier = c.text();
  w.definition_version = c.text();
  w.when_absent = c.text();
  w.summary = c.text();
  w.params_json = c.text();
  const bool shown_as_is = c.next_is_null();
  w.params_shown_json = c.text();
  if (shown_as_is) w.params_shown_json = w.params_json;
  w.note_json = c.text();
  w.point_json = c.text();
  w.result_json = c.text();
  w.error_type = ErrorType::named(c.text());
  w.error_message = c.text();
  w.decided_by = c.text();
  w.rolls_back = c.text();
  w.rollback_ms = c.integer();
  w.target = c.text();
  w.counted_as = c.text();
  w.approval_reason = c.text();
  w.ordering_key = c.text();
  w.waits_in_line = c.flag();
  w.out_of_order = c.flag();
  w.cleanup = cleanup_from(c.text());
  w.cleans = c.text();
  w.begun_attempt = c.small();
  row.waits_for_connection = c.flag();
  w.held_as_copy = c.flag();
  w.reconcile_first = c.flag();
  w.evidence = c.text();
  w.evidence_json = c.text();
  w.evidence_at_ms = c.integer();
  w.release_wanted = c.flag();
  row.claimed_at_ms = c.integer();
  w.send_at_ms = c.integer();
  w.session_id = c.text();
  w.counted_at_ms = c.integer();
  w.asked_by_json = c.text();
  w.approval_until_ms = c.integer();
  w.standing_approval = c.text();
  w.approvals_needed = c.integer();
  row.counted = phase_of(w);
  return row;
}

std::optional<LedgerRow> first_row(Statement& rows) {
  const ResetAtEnd reset(rows);
  if (!rows.step()) return std::nullopt;
  return read_row(rows);
}

std::optional<LedgerRow> row_of(StatementCache& sql, const std::string& write_id) {
  static const auto by_id = select_rows(kById);
  return first_row(sql.get(by_id).bind_all(seq_of_id(write_id), write_id));
}

LedgerRow row_of_seq(StatementCache& sql, std::int64_t seq) {
  static const auto by_seq = select_rows("seq = ?1");
  auto& rows = sql.get(by_seq).bind_all(seq);
  const ResetAtEnd reset(rows);
  if (!rows.step()) throw database_error("The ledger lost a write between two statements.");
  return read_row(rows);
}

LedgerRow must_have_row(StatementCache& sql, const std::string& write_id) {
  auto row = row_of(sql, write_id);
  if (!row) throw database_error("The ledger lost the write " + write_id + ".");
  return std::move(*row);
}

bool is_disconnected(StatementCache& sql, const AccountRef& account) {
  auto& rows = sql.get(
      "SELECT 1 FROM connections WHERE service = ?1 AND account_id = ?2 AND (token IS NULL OR generation <> ?3)");
  rows.bind_all(account.service, account.account_id, std::int64_t{account.generation});
  const ResetAtEnd reset(rows);
  return rows.step();
}

std::int64_t number_of_boot(StatementCache& sql, const std::string& boot_id) {
  sql.get("INSERT OR IGNORE INTO boots (boot_id) VALUES (?1)").bind_all(boot_id).run();
  auto& known = sql.get("SELECT boot FROM boots WHERE boot_id = ?1").bind_all(boot_id);
  const ResetAtEnd reset(known);
  if (!known.step()) throw database_error("The ledger lost the row of this boot.");
  return known.integer(0);
}

std::int64_t intent_of(const std::string& content_hash) {
  std::uint64_t bits = 0;
  const auto* begin = content_hash.data();
  std::from_chars(begin, begin + std::min<std::size_t>(16, content_hash.size()), bits, 16);
  return static_cast<std::int64_t>(bits);
}

void number_row(StatementCache& sql, LedgerRow& row) {
  auto& last = sql.get("SELECT max(seq) FROM writes");
  const ResetAtEnd reset(last);
  const auto newest = last.step() && !last.is_null(0) ? last.integer(0) : 0;
  auto& w = row.write;
  w.seq = std::max(first_seq_of(w.created_at_ms), newest + 1);
  w.write_id = make_ordered_id(prefix_of(w), w.seq);
}

void insert_row(StatementCache& sql, LedgerRow& row) {
  auto& s = sql.get(
      "INSERT INTO writes (seq, write_id, state, due_at_ms, due_boot_ms, boot, immediate, created_at_ms, "
      "buffer_until_ms, "
      "delay_ms, settle_ms, agent_id, service, account_id, generation, operation, intent, content_hash, "
      "idempotency_key, tier, definition_version, when_absent, summary, params_json, params_shown_json, rolls_back, "
      "rollback_ms, "
      "target, counted_as, approval_reason, ordering_key, decided_by, cleanup, cleans, send_at_ms, session_id, "
      "counted_at_ms, asked_by, approval_until_ms, standing_approval, approvals_needed) VALUES "
      "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const auto& w = row.write;
  int i = 0;
  s.bind(++i, w.seq);
  s.bind(++i, w.write_id);
  s.bind(++i, to_string(w.state));
  bind_nonzero(s, ++i, w.due_at_ms);
  bind_due_clock(s, i, row);
  s.bind(++i, w.immediate ? 1 : 0);
  s.bind(++i, w.created_at_ms);
  bind_nonzero(s, ++i, w.buffer_until_ms);
  s.bind(++i, w.delay_ms);
  s.bind(++i, w.settle_ms);
  s.bind(++i, w.agent_id);
  s.bind(++i, w.account.service);
  s.bind(++i, w.account.account_id);
  s.bind(++i, std::int64_t{w.account.generation});
  s.bind(++i, w.operation);
  s.bind(++i, intent_of(w.content_hash));
  s.bind(++i, w.content_hash);
  bind_nonempty(s, ++i, w.idempotency_key);
  s.bind(++i, w.tier);
  s.bind(++i, w.definition_version);
  s.bind(++i, w.when_absent);
  s.bind(++i, w.summary);
  s.bind(++i, w.params_json);
  if (w.params_shown_json == w.params_json) {
    s.bind(++i, nullptr);
  } else {
    s.bind(++i, w.params_shown_json);
  }
  bind_nonempty(s, ++i, w.rolls_back);
  s.bind(++i, w.rollback_ms);
  bind_nonempty(s, ++i, w.target);
  bind_nonempty(s, ++i, w.counted_as);
  bind_nonempty(s, ++i, w.approval_reason);
  bind_nonempty(s, ++i, w.ordering_key);
  bind_nonempty(s, ++i, w.decided_by);
  s.bind(++i, to_string(w.cleanup));
  bind_nonempty(s, ++i, w.cleans);
  bind_nonzero(s, ++i, w.send_at_ms);
  bind_nonempty(s, ++i, w.session_id);
  s.bind(++i, w.counted_at_ms);
  bind_nonempty(s, ++i, w.asked_by_json);
  bind_nonzero(s, ++i, w.approval_until_ms);
  bind_nonempty(s, ++i, w.standing_approval);
  bind_nonzero(s, ++i, w.approvals_needed);
  s.run();
  row.counted = phase_of(w);
  count_change(sql, std::nullopt, *row.counted);
  audit_admission(sql, row);
}

void update_content(StatementCache& sql, const WriteRecord& w) {
  auto& s = sql.get(
      "UPDATE writes SET params_json = ?2, params_shown_json = nullif(?3, ?2), summary = ?4, content_hash = ?5, "
      "intent = ?6, target = nullif(?7, ''), tier = ?8, definition_version = ?9, delay_ms = ?10, counted_as = "
      "nullif(?11, ''), "
      "approval_reason = nullif(?12, ''), ordering_key = nullif(?13, ''), send_at_ms = nullif(?14, 0), counted_at_ms = "
      "?15, asked_by = nullif(?16, ''), approvals_needed = nullif(?17, 0) WHERE seq = ?1");
  s.bind_all(w.seq, w.params_json, w.params_shown_json, w.summary, w.content_hash, intent_of(w.content_hash), w.target,
             w.tier, w.definition_version, w.delay_ms, w.counted_as, w.approval_reason, w.ordering_key, w.send_at_ms,
             w.counted_at_ms, w.asked_by_json, w.approvals_needed)
      .run();
}

void update_counted(StatementCache& sql, const WriteRecord& w) {
  sql.get("UPDATE writes SET counted_as = nullif(?2, ''), counted_at_ms = ?3 WHERE seq = ?1")
      .bind_all(w.seq, w.counted_as, w.counted_at_ms)
      .run();
}

void update_row(StatementCache& sql, LedgerRow& row) {
  auto& s = sql.get(
      "UPDATE writes SET state = ?2, irrevocable = ?3, escalated = ?4, due_at_ms = ?5, due_boot_ms = ?6, boot = ?7, "
      "owner_epoch = ?8, attempts = ?9, tries = ?10, looks = ?11, buffer_until_ms = ?12, first_attempt_at_ms = ?13, "
      "unknown_since_ms = ?14, ended_at_ms = ?15, result_json = ?16, error_type = ?17, error_message = ?18, "
      "decided_by = ?19, waits_in_line = ?20, out_of_order = ?21, cleanup = ?22, begun_attempt = ?23, "
      "waits_for_connection = ?24, held_as_copy = ?25, reconcile_first = ?26, release_wanted = ?27, claimed_at_ms = "
      "?28, approval_until_ms = ?29, standing_approval = ?30 "
      "WHERE seq = ?1");
  auto& w = row.write;
  if (w.state != WriteState::kPendingApproval) w.approval_until_ms = 0;
  int i = 0;
  s.bind(++i, w.seq);
  s.bind(++i, to_string(w.state));
  s.bind(++i, w.irrevocable ? 1 : 0);
  s.bind(++i, w.escalated ? 1 : 0);
  bind_nonzero(s, ++i, w.due_at_ms);
  bind_due_clock(s, i, row);
  bind_nonzero(s, ++i, row.owner_epoch);
  for (const auto n : {w.attempts, w.tries, w.looks}) s.bind(++i, std::int64_t{n});
  for (const auto t : {w.buffer_until_ms, w.first_attempt_at_ms, w.unknown_since_ms, w.ended_at_ms}) {
    bind_nonzero(s, ++i, t);
  }
  bind_nonempty(s, ++i, w.result_json);
  bind_nonempty(s, ++i, w.error_type.name());
  for (const auto* t : {&w.error_message, &w.decided_by}) bind_nonempty(s, ++i, *t);
  s.bind(++i, w.waits_in_line ? 1 : 0);
  s.bind(++i, w.out_of_order ? 1 : 0);
  s.bind(++i, to_string(w.cleanup));
  s.bind(++i, std::int64_t{w.begun_attempt});
  s.bind(++i, row.waits_for_connection ? 1 : 0);
  s.bind(++i, w.held_as_copy ? 1 : 0);
  s.bind(++i, w.reconcile_first ? 1 : 0);
  s.bind(++i, w.release_wanted ? 1 : 0);
  bind_nonzero(s, ++i, row.claimed_at_ms);
  bind_nonzero(s, ++i, w.approval_until_ms);
  bind_nonempty(s, ++i, w.standing_approval);
  s.run();
  // What will never happen counts for no limit.
  const bool never = w.state == WriteState::kCancelled || w.state == WriteState::kRejected;
  if (never && !std::exchange(w.counted_as, {}).empty()) update_counted(sql, w);
  count_change(sql, std::exchange(row.counted, phase_of(w)), phase_of(w));
  audit_changes(sql, row);
  if (!w.ordering_key.empty() && w.ended_at_ms > 0) call_next(sql, w);
}

}  // namespace krux
