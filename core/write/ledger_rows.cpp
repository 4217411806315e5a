#include "core/write/ledger_rows.hpp"

#include <algorithm>
#include <charconv>

#include "core/util/error.hpp"
#include "core/util/ids.hpp"

namespace krux {
namespace {

constexpr const char *kIdPrefix = "w_", *kUndoPrefix = "rb_";
constexpr const char* kColumns =
    "seq, write_id, state, closed, told_person, due_at_ms, due_boot_ms, boot, owner_epoch, attempts, tries, looks, "
    "immediate, created_at_ms, buffer_until_ms, delay_ms, settle_ms, first_attempt_at_ms, unknown_since_ms, "
    "ended_at_ms, "
    "agent_id, service, account_id, generation, operation, content_hash, idempotency_key, tier, definition_version, "
    "when_absent, summary, params_json, params_shown_json, note_json, point_json, result_json, error_type, "
    "error_message, "
    "decided_by, undoes, undo_ms, target, counted_as, approval_reason";

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

void bind_nonzero(Statement& s, int index, std::int64_t value) {
  if (value) {
    s.bind(index, value);
  } else {
    s.bind(index, nullptr);
  }
}

void bind_nonempty(Statement& s, int index, const std::string& text) {
  if (text.empty()) {
    s.bind(index, nullptr);
  } else {
    s.bind(index, text);
  }
}

/// due_boot_ms and boot, which may be 0.
void bind_due_clock(Statement& s, int& index, const LedgerRow& row) {
  for (const auto value : {row.due_boot_ms, row.boot}) {
    if (row.write.due_at_ms) {
      s.bind(++index, value);
    } else {
      s.bind(++index, nullptr);
    }
  }
}

}  // namespace

std::string select_rows(const std::string& where) {
  return std::string("SELECT ") + kColumns + " FROM writes WHERE " + where;
}

LedgerRow read_row(const Statement& statement) {
  LedgerRow row;
  auto& w = row.write;
  Columns c(statement);
  w.seq = c.integer();
  w.write_id = c.text();
  w.state = state_from(c.text());
  w.closed = c.flag();
  w.told_person = c.flag();
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
  w.error_type = c.text();
  w.error_message = c.text();
  w.decided_by = c.text();
  w.undoes = c.text();
  w.undo_ms = c.integer();
  w.target = c.text();
  w.counted_as = c.text();
  w.approval_reason = c.text();
  return row;
}

std::int64_t intent_of(const std::string& content_hash) {
  std::uint64_t bits = 0;
  const auto* begin = content_hash.data();
  std::from_chars(begin, begin + std::min<std::size_t>(16, content_hash.size()), bits, 16);
  return static_cast<std::int64_t>(bits);
}

std::int64_t seq_of_id(const std::string& write_id) {
  const auto* prefix = write_id.starts_with(kUndoPrefix) ? kUndoPrefix : kIdPrefix;
  return order_of_id(prefix, write_id).value_or(-1);
}

void number_row(StatementCache& sql, LedgerRow& row) {
  auto& last = sql.get("SELECT max(seq) FROM writes");
  const ResetAtEnd reset(last);
  const auto newest = last.step() && !last.is_null(0) ? last.integer(0) : 0;
  auto& w = row.write;
  w.seq = std::max(w.created_at_ms << 12, newest + 1);
  w.write_id = make_ordered_id(w.undoes.empty() ? kIdPrefix : kUndoPrefix, w.seq);
}

void insert_row(StatementCache& sql, const LedgerRow& row) {
  auto& s = sql.get(
      "INSERT INTO writes (seq, write_id, state, due_at_ms, due_boot_ms, boot, immediate, created_at_ms, "
      "buffer_until_ms, "
      "delay_ms, settle_ms, agent_id, service, account_id, generation, operation, intent, content_hash, "
      "idempotency_key, tier, definition_version, when_absent, summary, params_json, params_shown_json, undoes, "
      "undo_ms, "
      "target, counted_as, approval_reason, decided_by) "
      "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
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
  bind_nonempty(s, ++i, w.undoes);
  s.bind(++i, w.undo_ms);
  bind_nonempty(s, ++i, w.target);
  bind_nonempty(s, ++i, w.counted_as);
  bind_nonempty(s, ++i, w.approval_reason);
  bind_nonempty(s, ++i, w.decided_by);
  s.run();
}

void update_content(StatementCache& sql, const BufferedWrite& w) {
  auto& s = sql.get(
      "UPDATE writes SET params_json = ?2, params_shown_json = nullif(?3, ?2), summary = ?4, content_hash = ?5, "
      "intent = ?6, target = nullif(?7, ''), tier = ?8, definition_version = ?9, delay_ms = ?10, counted_as = "
      "nullif(?11, ''), "
      "approval_reason = nullif(?12, '') WHERE seq = ?1");
  s.bind_all(w.seq, w.params_json, w.params_shown_json, w.summary, w.content_hash, intent_of(w.content_hash), w.target,
             w.tier, w.definition_version, w.delay_ms, w.counted_as, w.approval_reason)
      .run();
}

void update_row(StatementCache& sql, const LedgerRow& row) {
  auto& s = sql.get(
      "UPDATE writes SET state = ?2, closed = ?3, told_person = ?4, due_at_ms = ?5, due_boot_ms = ?6, boot = ?7, "
      "owner_epoch = ?8, attempts = ?9, tries = ?10, looks = ?11, buffer_until_ms = ?12, first_attempt_at_ms = ?13, "
      "unknown_since_ms = ?14, ended_at_ms = ?15, result_json = ?16, error_type = ?17, error_message = ?18, "
      "decided_by = ?19 WHERE seq = ?1");
  const auto& w = row.write;
  int i = 0;
  s.bind(++i, w.seq);
  s.bind(++i, to_string(w.state));
  s.bind(++i, w.closed ? 1 : 0);
  s.bind(++i, w.told_person ? 1 : 0);
  bind_nonzero(s, ++i, w.due_at_ms);
  bind_due_clock(s, i, row);
  bind_nonzero(s, ++i, row.owner_epoch);
  for (const auto n : {w.attempts, w.tries, w.looks}) s.bind(++i, std::int64_t{n});
  for (const auto t : {w.buffer_until_ms, w.first_attempt_at_ms, w.unknown_since_ms, w.ended_at_ms}) {
    bind_nonzero(s, ++i, t);
  }
  for (const auto* t : {&w.result_json, &w.error_type, &w.error_message, &w.decided_by}) bind_nonempty(s, ++i, *t);
  s.run();
}

}  // namespace krux
