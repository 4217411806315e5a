#include "core/write/ledger.hpp"

#include <algorithm>
#include <limits>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_commit.hpp"

namespace krux {
namespace {

constexpr std::int64_t kDuplicateWindowMs = 10 * 60'000, kNever = std::numeric_limits<std::int64_t>::max();

std::int64_t number_of_boot(StatementCache& sql, const std::string& boot_id) {
  sql.get("INSERT OR IGNORE INTO boots (boot_id) VALUES (?1)").bind_all(boot_id).run();
  auto& known = sql.get("SELECT boot FROM boots WHERE boot_id = ?1").bind_all(boot_id);
  const ResetAtEnd reset(known);
  if (!known.step()) throw database_error("The ledger lost the row of this boot.");
  return known.integer(0);
}

std::int64_t next_epoch(StatementCache& sql) {
  auto& next = sql.get("UPDATE owner SET epoch = epoch + 1 RETURNING epoch");
  const ResetAtEnd reset(next);
  if (!next.step()) throw database_error("The ledger's table owner is empty: restore the file from a copy.");
  return next.integer(0);
}

/// Of the content that the agent asked for, before any edit; empty when there was none.
std::string first_hash(StatementCache& sql, const BufferedWrite& write) {
  auto& rows = sql.get("SELECT from_hash FROM edits WHERE write_seq = ?1 ORDER BY id LIMIT 1").bind_all(write.seq);
  const ResetAtEnd reset(rows);
  return rows.step() ? std::string(rows.text(0)) : std::string();
}

std::optional<BufferedWrite> first_row(Statement& rows) {
  const ResetAtEnd reset(rows);
  if (!rows.step()) return std::nullopt;
  return read_row(rows).write;
}

}  // namespace

Error error_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& e) {
    return e;
  } catch (const std::exception& e) {
    return database_error(e.what());
  } catch (...) {
    return database_error("The ledger's store failed for a reason that it does not name.");
  }
}

Ledger::Ledger(GroupCommit& store, Clock& clock, const std::string& boot_id)
    : store_(store), clock_(clock), readers_(store.file(), store.kind()) {
  before_close_ = store_.before_close([statements = statements_] { statements->cache.reset(); });
  try {
    store_.run([&](SQLite::Database& db) {
      boot_ = number_of_boot(statements(db), boot_id);
      epoch_ = next_epoch(statements(db));
    });
  } catch (...) {
    forget_statements();
    throw;
  }
}

Ledger::~Ledger() {
  on_change({});
  on_due({});
  forget_statements();
}

/// Also waits for every operation that was posted before.
void Ledger::forget_statements() {
  try {
    store_.run([statements = statements_](SQLite::Database&) { statements->cache.reset(); });
    store_.drop_before_close(before_close_);
  } catch (...) {
    // The store fails: before_close() clears them when it opens its connection again or ends.
  }
}

StatementCache& Ledger::statements(SQLite::Database& db) {
  auto& cache = statements_->cache;
  if (!cache) cache = std::make_unique<StatementCache>(db.getHandle());
  return *cache;
}

void Ledger::set_due(LedgerRow& row, std::optional<std::int64_t> in_ms) const {
  row.write.due_at_ms = in_ms ? clock_.wall_ms() + *in_ms : 0;
  row.due_boot_ms = in_ms ? clock_.boot_ms() + *in_ms : 0;
  row.boot = boot_;
}

/// Moves the row to the event's next state; throws an Error of `refusal_type` when there is none.
void Ledger::apply(LedgerRow& row, WriteEvent event, const char* refusal_type) const {
  auto& w = row.write;
  const auto next = transition(phase_of(w), event);
  if (const auto* refusal = std::get_if<Refusal>(&next)) {
    throw Error(refusal_type, refusal->sentence)
        .with_context("{\"write_id\":" + json_string(w.write_id) + ",\"state\":\"" + to_string(w.state) + "\"}");
  }
  const auto& phase = std::get<WritePhase>(next);
  w.state = phase.state;
  w.closed = phase.closed;
  w.told_person = phase.told_person;
  if (has_ended(w.state)) {
    w.ended_at_ms = clock_.wall_ms();
    w.due_at_ms = 0;
  }
}

void Ledger::add_decision(StatementCache& sql, const BufferedWrite& write, WriteEvent event,
                          const std::string& who) const {
  const auto now = clock_.wall_ms();
  sql.get(
         "INSERT INTO attempts (write_seq, kind, number, started_at_ms, ended_at_ms, outcome, who) "
         "VALUES (?1, 'decision', ?2, ?3, ?3, ?4, ?5)")
      .bind_all(write.seq, std::int64_t{write.attempts}, now, to_string(event), who)
      .run();
}

void Ledger::Listeners::changed(const BufferedWrite& write, const Clock& clock) {
  const std::lock_guard lock(mutex);
  if (on_due && write.due_at_ms) on_due(std::max<std::int64_t>(0, write.due_at_ms - clock.wall_ms()));
  if (on_change) on_change(write);
}

Ledger::Done<BufferedWrite> Ledger::announced(Done<BufferedWrite> done) const {
  return [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<BufferedWrite, Error> answer) {
    if (const auto* write = std::get_if<BufferedWrite>(&answer)) listeners->changed(*write, clock);
    done(std::move(answer));
  };
}

Ledger::Done<Ledger::Recorded> Ledger::announced_with_undone(Done<BufferedWrite> done) const {
  return [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<Recorded, Error> answer) {
    if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
    auto& [write, undone] = std::get<Recorded>(answer);
    // First what was undone: whoever waits for the undo then finds it so.
    if (undone) listeners->changed(*undone, clock);
    listeners->changed(write, clock);
    done(std::move(write));
  };
}

void Ledger::on_change(std::function<void(const BufferedWrite&)> listener) {
  const std::lock_guard lock(listeners_->mutex);
  listeners_->on_change = std::move(listener);
}

void Ledger::on_due(std::function<void(std::int64_t)> listener) {
  const std::lock_guard lock(listeners_->mutex);
  listeners_->on_due = std::move(listener);
}

namespace {

/// Of a write whose effect is about to be taken back: to ask for it again is a new wish.
const std::string kLiveUndo = "(SELECT 1 FROM writes AS u WHERE u.undoes = writes.write_id AND u.ended_at_ms IS NULL)";

}  // namespace

/// The write that answers the one asked for, if there is one.
std::optional<BufferedWrite> Ledger::find_same(StatementCache& sql, const NewWrite& asked,
                                               const BufferedWrite& write) const {
  if (!asked.idempotency_key.empty()) {
    static const auto by_key = select_rows("agent_id = ?1 AND idempotency_key = ?2");
    auto same = first_row(sql.get(by_key).bind_all(asked.agent_id, asked.idempotency_key));
    const bool other = same && same->content_hash != write.content_hash && first_hash(sql, *same) != write.content_hash;
    if (other && same->account.generation != write.account.generation) {
      throw conflict("The idempotency key \"" + printable(asked.idempotency_key) + "\" belongs to " + same->write_id +
                     ", which was accepted on an earlier connection of this account and is " + to_string(same->state) +
                     " now. Use a new key only if it is to be sent again.")
          .with_context("{\"write_id\":" + json_string(same->write_id) + "}");
    }
    if (other) {
      throw conflict("The idempotency key \"" + printable(asked.idempotency_key) +
                     "\" was already used for another content. Use a new key for a new write.")
          .with_context("{\"write_id\":" + json_string(same->write_id) + "}");
    }
    if (same) return same;
  }
  if (asked.allow_duplicate) return std::nullopt;
  static const auto by_intent = select_rows(
      "intent = ?1 AND agent_id = ?2 AND content_hash = ?3 AND (ended_at_ms IS NULL OR (state = 'completed' AND "
      "ended_at_ms >= ?4 AND NOT EXISTS " +
      kLiveUndo + ")) ORDER BY seq DESC LIMIT 1");
  const auto since = asked.sets_state ? kNever : clock_.wall_ms() - kDuplicateWindowMs;
  auto same =
      first_row(sql.get(by_intent).bind_all(intent_of(write.content_hash), asked.agent_id, write.content_hash, since));
  if (same) return same;
  // What a person made of it is still what was asked for; the agent's own edits took its first wish back.
  static const auto by_edit = select_rows(
      "seq IN (SELECT write_seq FROM edits WHERE from_hash = ?1 AND who NOT LIKE 'agent:%') AND agent_id = ?2 AND "
      "(ended_at_ms IS NULL OR (state = 'completed' AND ended_at_ms >= ?3 AND NOT EXISTS " +
      kLiveUndo + ")) ORDER BY seq DESC LIMIT 1");
  return first_row(sql.get(by_edit).bind_all(write.content_hash, asked.agent_id, since));
}

namespace {

/// The row of a new write, but for its time clocks and its id.
LedgerRow admit(const NewWrite& asked, std::int64_t now) {
  LedgerRow row;
  auto& w = row.write;
  w.agent_id = asked.agent_id;
  w.account = asked.account;
  w.operation = asked.operation;
  w.params_json = asked.params_json;
  w.params_shown_json = asked.params_shown_json.empty() ? asked.params_json : asked.params_shown_json;
  w.summary = asked.summary;
  w.content_hash = content_hash(asked.account, asked.operation, asked.params_json);
  w.idempotency_key = asked.idempotency_key;
  w.tier = asked.tier;
  w.undo_ms = asked.undo_ms;
  w.target = asked.target;
  w.counted_as = counted_as(asked.limits, asked.counted_as, asked.operation);
  w.approval_reason = asked.approval_reason;
  w.definition_version = asked.definition_version;
  w.when_absent = asked.when_absent.empty() ? "ask" : asked.when_absent;
  w.state = asked.approval_reason.empty() ? asked.admitted_as : WriteState::kPendingApproval;
  w.immediate = asked.immediate;
  w.created_at_ms = now;
  w.delay_ms = asked.immediate ? 0 : std::max<std::int64_t>(0, asked.delay_ms);
  w.settle_ms = std::max<std::int64_t>(0, asked.settle_ms);
  return row;
}

}  // namespace

/// A window begins, or a person is asked. Throws BatchProtection.
void Ledger::admit_within_limits(StatementCache& sql, const NewWrite& asked, LedgerRow& row) const {
  auto& w = row.write;
  if (auto why = excess(sql, asked.limits, w); !why.empty()) {
    w.state = WriteState::kPendingApproval;
    w.approval_reason = std::move(why);
  }
  if (w.state == WriteState::kPendingApproval && has_too_many_pending(sql, w.agent_id)) {
    throw Error("BatchProtection", std::to_string(kMostPendingApprovals) +
                                       " writes of this agent wait for a person already. Nothing was accepted: wait "
                                       "until they are decided.");
  }
  if (w.state == WriteState::kBuffered) begin_window(row);
}

void Ledger::submit(NewWrite write, Done<Submitted> done) {
  const auto row = std::make_shared<LedgerRow>();
  const auto asked = std::make_shared<const NewWrite>(std::move(write));
  using Same = std::optional<BufferedWrite>;
  commit<Same>(
      {"write.submit.before_commit", "write.submit.after_commit"},
      [this, asked, row, now = clock_.wall_ms()](StatementCache& sql) {
        *row = admit(*asked, now);
        auto same = find_same(sql, *asked, row->write);
        if (same) return same;
        admit_within_limits(sql, *asked, *row);
        number_row(sql, *row);
        insert_row(sql, *row);
        tell_of_approvals(sql, row->write);
        return same;
      },
      [listeners = listeners_, &clock = clock_, row, done = std::move(done)](std::variant<Same, Error> answer) {
        if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
        if (auto& same = std::get<Same>(answer)) return done(Submitted{std::move(*same), true});
        listeners->changed(row->write, clock);
        done(Submitted{std::move(row->write), false});
      });
}

}  // namespace krux
