#include "core/write/transactions.hpp"

#include <fmt/format.h>

#include <array>

#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_rows.hpp"
#include "core/write/transition.hpp"

namespace krux {
namespace {

constexpr const char* kTransactionPrefix = "tx_";
/// Nobody asks about one any more that has ended so long ago.
constexpr std::int64_t kEndedKeptMs = 60 * kDay;
constexpr std::size_t kLongestId = 64;  ///< of what is shown of one that there is not
constexpr std::array kStateNames{"open", "committed", "undoing", "undone"};

TransactionState parse_transaction_state(std::string_view text) {
  for (std::size_t i = 0; i < kStateNames.size(); ++i) {
    if (text == kStateNames[i]) return static_cast<TransactionState>(i);
  }
  throw database_error("The ledger's table transactions holds a state that this version does not know.");
}

std::int64_t count_of(Statement& rows) {
  const ResetAtEnd reset(rows);
  return rows.step() ? rows.integer(0) : 0;
}

Error no_part_of_one(const WriteRecord& write, const std::string& why) {
  return {ErrorCode::kOperationBlocked,
          fmt::format("{} {}, so that it cannot be a part of a transaction. Call it outside of one.",
                      printable(write.operation), why)};
}

std::vector<TransactionWrite> writes_of(StatementCache& sql, const std::string& transaction_id) {
  std::vector<std::pair<std::int64_t, std::string>> known;
  auto& rows =
      sql.get("SELECT write_seq, stays_because FROM transaction_writes WHERE transaction_id = ?1 ORDER BY write_seq");
  rows.bind_all(transaction_id);
  {
    const ResetAtEnd reset(rows);
    while (rows.step()) known.emplace_back(rows.integer(0), rows.text(1));
  }
  std::vector<TransactionWrite> writes;
  static const auto by_seq = select_rows("seq = ?1");
  for (auto& [seq, stays] : known) {
    // Old writes are taken out of the ledger.
    if (auto row = first_row(sql.get(by_seq).bind_all(seq)))
      writes.push_back({std::move(row->write), std::move(stays)});
  }
  return writes;
}

/// All of its writes and of their undos that tells whether there is a next step.
std::string stand_of(StatementCache& sql, const std::string& transaction_id) {
  auto& rows = sql.get(
      "SELECT w.seq, w.state, w.escalated, w.held_as_copy, w.irrevocable, w.reconcile_first, w.release_wanted, "
      "t.stays_because, u.seq, u.state, u.escalated, u.held_as_copy FROM transaction_writes t JOIN writes w ON w.seq = "
      "t.write_seq LEFT JOIN writes u ON u.rolls_back = w.write_id WHERE t.transaction_id = ?1 ORDER BY w.seq, u.seq");
  rows.bind_all(transaction_id);
  const ResetAtEnd reset(rows);
  std::string stand;
  while (rows.step()) {
    for (int column = 0; column < 12; ++column) stand.append(rows.text(column)).push_back('\n');
  }
  return stand;
}

/// Without its writes.
AgentTransaction must_find_head(StatementCache& sql, const std::string& transaction_id, const std::string& agent_id) {
  auto& row = sql.get(
      "SELECT agent_id, session_id, state, reason, begun_at_ms, until_ms, ended_at_ms FROM transactions WHERE "
      "transaction_id = ?1");
  row.bind_all(transaction_id);
  AgentTransaction found;
  {
    const ResetAtEnd reset(row);
    if (!row.step() || (!agent_id.empty() && row.text(0) != agent_id))
      throw invalid_input(fmt::format("There is no transaction {} of yours. transaction.begin makes one.",
                                      printable(transaction_id.substr(0, kLongestId))));
    found.transaction_id = transaction_id;
    found.agent_id = row.text(0);
    found.session_id = row.text(1);
    found.state = parse_transaction_state(row.text(2));
    found.reason = row.text(3);
    found.begun_at_ms = row.integer(4);
    found.until_ms = row.integer(5);
    found.ended_at_ms = row.integer(6);
  }
  return found;
}

}  // namespace

const char* to_string(TransactionState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

AgentTransaction insert_transaction(StatementCache& sql, const std::string& agent_id, const std::string& session_id,
                                    std::int64_t now_ms, std::int64_t for_ms) {
  sql.get(
         "DELETE FROM transaction_writes WHERE transaction_id IN (SELECT transaction_id FROM transactions WHERE "
         "ended_at_ms < ?1)")
      .bind_all(now_ms - kEndedKeptMs)
      .run();
  sql.get("DELETE FROM transactions WHERE ended_at_ms < ?1").bind_all(now_ms - kEndedKeptMs).run();
  const auto open =
      count_of(sql.get("SELECT count(*) FROM transactions WHERE state = 'open' AND agent_id = ?1").bind_all(agent_id));
  if (open >= kMostOpenTransactions)
    throw Error(ErrorCode::kBatchProtection,
                fmt::format("This agent has {} open transactions, which is the limit. Commit or roll back one of them.",
                            kMostOpenTransactions));
  AgentTransaction made;
  made.transaction_id = make_id(kTransactionPrefix, now_ms);
  made.agent_id = agent_id;
  made.session_id = session_id;
  made.begun_at_ms = now_ms;
  made.until_ms = now_ms + for_ms;
  sql.get(
         "INSERT INTO transactions (transaction_id, agent_id, session_id, state, begun_at_ms, until_ms) VALUES (?1, "
         "?2, "
         "?3, 'open', ?4, ?5)")
      .bind_all(made.transaction_id, agent_id, session_id, made.begun_at_ms, made.until_ms)
      .run();
  return made;
}

AgentTransaction must_find_transaction(StatementCache& sql, const std::string& transaction_id,
                                       const std::string& agent_id) {
  auto found = must_find_head(sql, transaction_id, agent_id);
  found.writes = writes_of(sql, transaction_id);
  return found;
}

void must_be_open(const AgentTransaction& transaction, std::int64_t now_ms) {
  const auto& t = transaction;
  if (t.state == TransactionState::kOpen && now_ms < t.until_ms) return;
  const auto how = t.state == TransactionState::kCommitted ? std::string("was committed")
                   : t.state == TransactionState::kOpen    ? std::string("is over, for its time has ended")
                                                           : "was undone: " + t.reason;
  throw transaction_ended(
      fmt::format("The transaction {} {}{} Begin another one.", t.transaction_id, how, how.ends_with('.') ? "" : "."))
      .with_context(
          fmt::format(R"({{"transaction_id":{},"state":"{}"}})", json_string(t.transaction_id), to_string(t.state)));
}

void update_transaction(StatementCache& sql, const AgentTransaction& transaction) {
  const auto& t = transaction;
  sql.get("UPDATE transactions SET state = ?2, reason = ?3, ended_at_ms = nullif(?4, 0) WHERE transaction_id = ?1")
      .bind_all(t.transaction_id, std::string_view(to_string(t.state)), t.reason, t.ended_at_ms)
      .run();
}

void note_why_it_stays(StatementCache& sql, const std::string& transaction_id, const TransactionWrite& one) {
  sql.get("UPDATE transaction_writes SET stays_because = ?3 WHERE transaction_id = ?1 AND write_seq = ?2")
      .bind_all(transaction_id, one.write.seq, one.stays_because)
      .run();
}

void must_fit_in(StatementCache& sql, const std::string& transaction_id, const WriteRecord& admitted,
                 std::int64_t now_ms) {
  must_be_open(must_find_head(sql, transaction_id, admitted.agent_id), now_ms);
  if (admitted.state == WriteState::kPendingApproval) throw_needs_person(admitted, admitted.approval_reason);
  if (admitted.immediate && admitted.rollback_ms == 0)
    throw no_part_of_one(admitted, "happens at once and cannot be undone");
  const auto writes =
      count_of(sql.get("SELECT count(*) FROM transaction_writes WHERE transaction_id = ?1").bind_all(transaction_id));
  if (writes >= kMostTransactionWrites)
    throw Error(
        ErrorCode::kBatchProtection,
        fmt::format("A transaction takes {} writes. Commit this one, and begin another.", kMostTransactionWrites));
}

void must_not_hang_on_another(StatementCache& sql, const WriteRecord& same, const NewWrite& asked) {
  auto& row = sql.get(
      "SELECT t.transaction_id FROM transactions t JOIN transaction_writes w ON w.transaction_id = t.transaction_id "
      "AND "
      "w.write_seq = ?1 WHERE t.state = 'open' OR t.state = 'undoing'");
  row.bind_all(same.seq);
  const ResetAtEnd reset(row);
  if (!row.step() || row.text(0) == asked.transaction_id) return;
  // A key is looked at first: what it names answers whatever else is asked for.
  const bool by_key = !asked.idempotency_key.empty() && asked.idempotency_key == same.idempotency_key;
  const auto* const otherwise =
      by_key ? "another idempotency_key and allow_duplicate: the key is that write's" : "allow_duplicate";
  throw conflict(fmt::format("The same is {} in the transaction {}, which may still take it back. Nothing was "
                             "accepted: ask again once that has ended, or with {}.",
                             same.write_id, row.text(0), otherwise))
      .with_context(fmt::format(R"({{"write_id":{},"transaction_id":{}}})", json_string(same.write_id),
                                json_string(row.text(0))));
}

void add_to_transaction(StatementCache& sql, const std::string& transaction_id, const WriteRecord& write) {
  sql.get("INSERT INTO transaction_writes (transaction_id, write_seq) VALUES (?1, ?2)")
      .bind_all(transaction_id, write.seq)
      .run();
}

TransactionsAtWork transactions_at_work(StatementCache& sql) {
  TransactionsAtWork found;
  auto& rows = sql.get(
      "SELECT transaction_id, state, until_ms FROM transactions WHERE state = 'open' OR state = 'undoing' ORDER BY "
      "begun_at_ms");
  {
    const ResetAtEnd reset(rows);
    while (rows.step()) {
      if (rows.text(1) == to_string(TransactionState::kUndoing)) {
        found.undoing.push_back({std::string(rows.text(0)), {}});
      } else {
        found.open.emplace_back(rows.text(0), rows.integer(2));
      }
    }
  }
  for (auto& one : found.undoing) one.stand = stand_of(sql, one.transaction_id);
  // Of what is held as it should be nothing is read: there may be much of it, and each change of a write asks.
  static const auto doubtful = select_rows(
      "seq IN (SELECT write_seq FROM transaction_writes WHERE transaction_id = ?1) AND state <> 'held' AND state <> "
      "'completed' ORDER BY seq");
  for (const auto& [id, until] : found.open) {
    auto& doubted = sql.get(doubtful).bind_all(id);
    const ResetAtEnd reset(doubted);
    while (doubted.step()) {
      const auto write = read_row(doubted).write;
      if (auto why = why_not_committed(write); !why.empty() && !may_end_well(write)) {
        found.failed.emplace_back(id, std::move(why));
        break;
      }
    }
  }
  return found;
}

void throw_needs_person(const WriteRecord& write, const std::string& why) {
  throw no_part_of_one(write, "needs a person's approval (" + why + ")");
}

bool may_end_well(const WriteRecord& write) {
  return !has_ended(write.state) && write.state != WriteState::kUnknown && write.state != WriteState::kDeadLetter;
}

std::string why_not_committed(const WriteRecord& write) {
  const bool held = write.state == WriteState::kHeld && !write.held_as_copy;
  // An agent that has cancelled one of its writes has left it out.
  const bool left_out = write.state == WriteState::kCancelled && write.decided_by.starts_with("agent:");
  if (held || left_out || write.state == WriteState::kCompleted) return {};
  return fmt::format("{} {} {}.", printable(write.operation), write.write_id, state_in_words(phase_of(write)));
}

}  // namespace krux
