#include "core/write/ledger.hpp"

#include <algorithm>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/ledger_history.hpp"

namespace krux {
namespace {

std::int64_t next_epoch(StatementCache& sql) {
  auto& next = sql.get("UPDATE owner SET epoch = epoch + 1 RETURNING epoch");
  const ResetAtEnd reset(next);
  if (!next.step()) throw database_error("The ledger's table owner is empty: restore the file from a copy.");
  return next.integer(0);
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

/// Moves the row to the event's next state; throws an Error of `refused_as` when there is none.
void Ledger::apply(LedgerRow& row, WriteEvent event, ErrorCode refused_as) const {
  auto& w = row.write;
  const auto next = transition(phase_of(w), event);
  if (const auto* refusal = std::get_if<Refusal>(&next)) {
    throw Error(refused_as, refusal->sentence)
        .with_context("{\"write_id\":" + json_string(w.write_id) + ",\"state\":\"" + to_string(w.state) + "\"}");
  }
  const auto& phase = std::get<WritePhase>(next);
  row.changes.push_back(
      {event, w.state, clock_.wall_ms(), event == WriteEvent::kEdit ? w.content_hash : std::string()});
  // What the attempts of a held write made may be in use by the original: it is not taken away.
  if (w.held_as_copy && phase.state == WriteState::kDiscarded && w.cleanup == Cleanup::kPossible)
    w.cleanup = Cleanup::kLeft;
  if (w.state == WriteState::kPendingApproval && phase.state != w.state) w.approval_resolved = true;
  w.state = phase.state;
  w.irrevocable = phase.irrevocable;
  w.escalated = phase.escalated;
  w.held_as_copy = phase.held_as_copy;
  w.reconcile_first = phase.reconcile_first;
  w.release_wanted = phase.release_wanted;
  if (has_ended(w.state)) {
    w.ended_at_ms = clock_.wall_ms();
    w.due_at_ms = 0;
  }
}

void Ledger::add_decision(StatementCache& sql, const WriteRecord& write, WriteEvent event,
                          const std::string& who) const {
  const auto now = clock_.wall_ms();
  add_to_history(sql, write.seq, {"decision", write.attempts, now, now, to_string(event), {}, {}, who});
  if (!who.starts_with("operator:")) return;
  // Which came first, the revocation or the decision, is what the ledger says: clocks may be set in between.
  sql.get(
         "UPDATE writes SET decided_since_revoked = 1 WHERE seq = ?1 AND EXISTS (SELECT 1 FROM agents WHERE agent_id = "
         "?2 AND revoked_at_ms > 0)")
      .bind_all(write.seq, write.agent_id)
      .run();
}

void Ledger::add_look(StatementCache& sql, const WriteRecord& write, const WriteReport& report,
                      WriteEvent event) const {
  add_to_history(sql, write.seq,
                 {"look",
                  report.attempt,
                  report.started_at_ms,
                  clock_.wall_ms(),
                  to_string(event),
                  {},
                  report.error_message,
                  "host"});
}

void Ledger::Listeners::changed(const WriteRecord& write, const Clock& clock) {
  const std::lock_guard lock(mutex);
  if (on_due && !write.ordering_key.empty() && has_ended(write.state)) on_due(0);  // who stood behind it is next
  if (on_due && write.due_at_ms) on_due(std::max<std::int64_t>(0, write.due_at_ms - clock.wall_ms()));
  for (const auto& [id, observer] : observers) observer(write);
}

void Ledger::Listeners::due_now() {
  const std::lock_guard lock(mutex);
  if (on_due) on_due(0);
}

Ledger::Done<WriteRecord> Ledger::announced(Done<WriteRecord> done) const {
  return [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<WriteRecord, Error> answer) {
    if (const auto* write = std::get_if<WriteRecord>(&answer)) listeners->changed(*write, clock);
    done(std::move(answer));
  };
}

Ledger::Done<Ledger::Recorded> Ledger::announced_with_others(Done<WriteRecord> done) const {
  return [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<Recorded, Error> answer) {
    if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
    auto& [write, others] = std::get<Recorded>(answer);
    // First what was undone: whoever waits for the undo then finds it so.
    for (const auto& other : others) listeners->changed(other, clock);
    listeners->changed(write, clock);
    done(std::move(write));
  };
}

Ledger::Observation Ledger::observe(std::function<void(const WriteRecord&)> observer) {
  const std::lock_guard lock(listeners_->mutex);
  const auto id = listeners_->next_observer++;
  listeners_->observers.emplace(id, std::move(observer));
  return {listeners_.get(), [listeners = listeners_, id](const void*) {
            const std::lock_guard end(listeners->mutex);
            listeners->observers.erase(id);
          }};
}

void Ledger::on_due(std::function<void(std::int64_t)> listener) {
  const std::lock_guard lock(listeners_->mutex);
  listeners_->on_due = std::move(listener);
}

}  // namespace krux
