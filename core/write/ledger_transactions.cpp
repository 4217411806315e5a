// Transactions: what is held goes out when they are committed, and what ran is taken back when they are not.
#include <fmt/format.h>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/transactions.hpp"

namespace krux {
namespace {

/// Nobody acts on it until a person has decided, or that may take days: what was done before it is undone meanwhile.
bool waits_for_person(const WriteRecord& write) {
  return write.escalated || write.held_as_copy || write.state == WriteState::kPendingApproval;
}

std::optional<WriteRecord> last_undo_of(StatementCache& sql, const WriteRecord& write) {
  static const auto newest = select_rows("rolls_back = ?1 ORDER BY seq DESC LIMIT 1");
  auto row = first_row(sql.get(newest).bind_all(write.write_id));
  return row ? std::optional(std::move(row->write)) : std::nullopt;
}

std::string why_not_undone(const WriteRecord& undo) {
  return fmt::format("Its undo {} {}.{}{}", undo.write_id, state_in_words(phase_of(undo)),
                     undo.error_message.empty() ? "" : " ", undo.error_message);
}

Error still_under_way(const AgentTransaction& transaction, const std::string& why) {
  return Error(ErrorCode::kConflictError, "Nothing was committed yet: " + why + " Commit again when it has ended.",
               true, 1'000)
      .with_context("{\"transaction_id\":" + json_string(transaction.transaction_id) + "}");
}

Error not_committed(const AgentTransaction& transaction) {
  return transaction_ended("The transaction was not committed, and what it did is undone: " + transaction.reason)
      .with_context(fmt::format(R"({{"transaction_id":{},"state":"{}"}})", json_string(transaction.transaction_id),
                                to_string(transaction.state)));
}

}  // namespace

Ledger::Done<Ledger::TransactionChange> Ledger::announced_all(Done<AgentTransaction> done) const {
  return
      [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<TransactionChange, Error> answer) {
        if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
        auto& change = std::get<TransactionChange>(answer);
        for (const auto& write : change.changed) listeners->changed(write, clock);
        if (change.refused) return done(not_committed(change.transaction));
        done(std::move(change.transaction));
      };
}

void Ledger::begin_transaction(std::string agent_id, std::string session_id, std::int64_t for_ms,
                               Done<AgentTransaction> done) {
  commit<AgentTransaction>(
      {"transaction.begin.before_commit", "transaction.begin.after_commit"},
      [this, agent_id = std::move(agent_id), session_id = std::move(session_id), for_ms](StatementCache& sql) {
        return insert_transaction(sql, agent_id, session_id, clock_.wall_ms(), for_ms);
      },
      std::move(done));
}

void Ledger::commit_transaction(std::string transaction_id, std::string agent_id, Done<AgentTransaction> done) {
  commit<TransactionChange>(
      {"transaction.commit.before_commit", "transaction.commit.after_commit"},
      [this, id = std::move(transaction_id), agent_id = std::move(agent_id)](StatementCache& sql) {
        TransactionChange change{must_find_transaction(sql, id, agent_id), {}, false};
        auto& t = change.transaction;
        if (t.state == TransactionState::kCommitted) return change;  // asked once more: the answer was lost
        must_be_open(t, clock_.wall_ms());
        for (const auto& one : t.writes) {
          auto why = why_not_committed(one.write);
          if (why.empty()) continue;
          if (may_end_well(one.write)) throw still_under_way(t, why);
          change.refused = true;
          begin_undoing(sql, change, std::move(why));
          return change;
        }
        for (auto& one : t.writes) {
          if (one.write.state != WriteState::kHeld) continue;
          auto row = row_of_seq(sql, one.write.seq);
          apply(row, WriteEvent::kRelease, ErrorCode::kConflictError);
          begin_window(row);
          update_row(sql, row);
          one.write = row.write;
          change.changed.push_back(std::move(row.write));
        }
        t.state = TransactionState::kCommitted;
        t.ended_at_ms = clock_.wall_ms();
        update_transaction(sql, t);
        return change;
      },
      announced_all(std::move(done)));
}

void Ledger::undo_transaction(std::string transaction_id, std::string agent_id, std::string reason,
                              Done<AgentTransaction> done) {
  commit<TransactionChange>(
      {"transaction.undo.before_commit", "transaction.undo.after_commit"},
      [this, id = std::move(transaction_id), agent_id = std::move(agent_id),
       reason = std::move(reason)](StatementCache& sql) {
        TransactionChange change{must_find_transaction(sql, id, agent_id), {}, false};
        auto& t = change.transaction;
        if (t.state == TransactionState::kCommitted)
          throw transaction_ended(
              "The transaction " + id +
              " was committed. proxy.cancel_write takes back what has not been sent, proxy.rollback undoes "
              "what can be undone.");
        if (t.state == TransactionState::kOpen) begin_undoing(sql, change, reason);
        return change;
      },
      announced_all(std::move(done)));
}

void Ledger::undo_open_transaction(const std::string& transaction_id, std::string reason) {
  commit_and_wait<TransactionChange>(
      {"transaction.undo.before_commit", "transaction.undo.after_commit"},
      [this, transaction_id, reason = std::move(reason)](StatementCache& sql) {
        TransactionChange change{must_find_transaction(sql, transaction_id, {}), {}, false};
        if (change.transaction.state == TransactionState::kOpen) begin_undoing(sql, change, reason);
        return change;
      },
      [listeners = listeners_, &clock = clock_](const TransactionChange& change) {
        for (const auto& write : change.changed) listeners->changed(write, clock);
      });
}

/// What has not begun never does; the rest is taken back by continue_undoing().
void Ledger::begin_undoing(StatementCache& sql, TransactionChange& change, std::string reason) const {
  auto& t = change.transaction;
  t.state = TransactionState::kUndoing;
  t.reason = std::move(reason);
  update_transaction(sql, t);
  for (auto& one : t.writes) take_out(sql, change, one);
}

/// False: it has begun, or a person decides about it.
bool Ledger::take_out(StatementCache& sql, TransactionChange& change, TransactionWrite& one) const {
  const auto event = one.write.state == WriteState::kHeld ? WriteEvent::kDrop : WriteEvent::kCancel;
  if (!std::holds_alternative<WritePhase>(transition(phase_of(one.write), event))) return false;
  auto row = row_of_seq(sql, one.write.seq);
  apply(row, event, ErrorCode::kConflictError);
  row.write.decided_by = "host";
  row.write.error_message = "Its transaction was undone: " + change.transaction.reason;
  add_decision(sql, row.write, event, "host");
  follow_end(sql, row.write, change.changed);
  update_row(sql, row);
  tell_of_approvals(sql, row.write);
  one.write = row.write;
  change.changed.push_back(std::move(row.write));
  return true;
}

/// Asks for its undo, once the last one was answered. True: what was done before it has to wait.
bool Ledger::take_back(StatementCache& sql, TransactionChange& change, TransactionWrite& one) const {
  const auto stays = [&](std::string why) {
    one.stays_because = std::move(why);
    note_why_it_stays(sql, change.transaction.transaction_id, one);
    return false;
  };
  if (const auto undo = last_undo_of(sql, one.write)) {
    if (has_ended(undo->state)) return stays(why_not_undone(*undo));
    return !waits_for_person(*undo);
  }
  try {
    auto made = begin_rollback(sql, one.write, false, "host", change.transaction.session_id);
    change.changed.push_back(std::move(made));
    return true;
  } catch (const Error& refused) {
    if (refused.type() == ErrorCode::kDatabaseError) throw;
    return stays(refused.what());
  }
}

void Ledger::continue_undoing(const std::string& transaction_id) {
  commit_and_wait<TransactionChange>(
      {"transaction.step.before_commit", "transaction.step.after_commit"},
      [this, transaction_id](StatementCache& sql) {
        TransactionChange change{must_find_transaction(sql, transaction_id, {}), {}, false};
        auto& t = change.transaction;
        bool left = false;
        for (auto one = t.writes.rbegin(); one != t.writes.rend(); ++one) {
          if (!has_ended(one->write.state) && !take_out(sql, change, *one)) {
            left = true;
            if (!waits_for_person(one->write)) return change;
          }
          if (one->write.state != WriteState::kCompleted || !one->stays_because.empty()) continue;
          if (take_back(sql, change, *one)) return change;
          left = left || one->stays_because.empty();
        }
        if (left) return change;
        t.state = TransactionState::kUndone;
        t.ended_at_ms = clock_.wall_ms();
        update_transaction(sql, t);
        return change;
      },
      [listeners = listeners_, &clock = clock_](const TransactionChange& change) {
        for (const auto& write : change.changed) listeners->changed(write, clock);
      });
}

AgentTransaction Ledger::transaction(const std::string& transaction_id, const std::string& agent_id) {
  auto reader = readers_.lease();
  return must_find_transaction(reader.sql(), transaction_id, agent_id);
}

TransactionsAtWork Ledger::transactions_at_work() {
  auto reader = readers_.lease();
  return krux::transactions_at_work(reader.sql());
}

}  // namespace krux
