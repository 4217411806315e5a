// Writes of an agent that are carried out all, or none. docs/transactions.md tells the story.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/write/write.hpp"

namespace krux {

enum class TransactionState {
  kOpen,
  kCommitted,
  kUndoing,  ///< what ran is taken back, the last first
  kUndone,   ///< what could not be is told of its writes
};

const char* to_string(TransactionState state);

struct TransactionWrite {
  WriteRecord write;
  std::string stays_because;  ///< why it was not undone, a sentence; empty: it was, or nothing was to be undone yet
};

struct AgentTransaction {
  std::string transaction_id, agent_id, session_id;
  TransactionState state = TransactionState::kOpen;
  std::string reason;  ///< why it was undone, a sentence; empty: it was not
  std::int64_t begun_at_ms = 0, until_ms = 0, ended_at_ms = 0;
  std::vector<TransactionWrite> writes;  ///< in the order in which they were asked for
};

inline constexpr std::int64_t kShortestTransactionMs = 1'000, kDefaultTransactionMs = 5 * 60'000,
                              kLongestTransactionMs = 60 * 60'000;
inline constexpr std::int64_t kMostTransactionWrites = 100, kMostOpenTransactions = 8;

// Rows of tables `transactions` and `transaction_writes`. Within an operation of the store, or on a reader's
// connection.

/// Throws krux::Error BatchProtection where the agent has kMostOpenTransactions.
AgentTransaction insert_transaction(StatementCache& sql, const std::string& agent_id, const std::string& session_id,
                                    std::int64_t now_ms, std::int64_t for_ms);
/// With its writes. Throws krux::Error InvalidInput: the agent (empty: anybody) has none of that id.
AgentTransaction must_find_transaction(StatementCache& sql, const std::string& transaction_id,
                                       const std::string& agent_id);
/// A ConflictError that no repetition helps against.
inline Error transaction_ended(const std::string& message) {
  return {ErrorCode::kConflictError, message};
}
/// Throws it with how it has ended.
void must_be_open(const AgentTransaction& transaction, std::int64_t now_ms);
/// State, reason, end.
void update_transaction(StatementCache& sql, const AgentTransaction& transaction);
void note_why_it_stays(StatementCache& sql, const std::string& transaction_id, const TransactionWrite& one);

/// Of a wish that is a part of an open transaction of its agent: throws krux::Error ConflictError where that has ended,
/// OperationBlocked where it cannot be a part of one, BatchProtection where it has too many.
void must_fit_in(StatementCache& sql, const std::string& transaction_id, const WriteRecord& admitted,
                 std::int64_t now_ms);
/// Of a wish that an earlier write would answer: throws krux::Error ConflictError where that is a part of an unfinished
/// transaction other than the one that `asked` names (empty: none), which may still take it back.
void must_not_hang_on_another(StatementCache& sql, const WriteRecord& same, const NewWrite& asked);
void add_to_transaction(StatementCache& sql, const std::string& transaction_id, const WriteRecord& write);

/// What is to be looked after: open ones and when their time is over, open ones that cannot be committed any more and
/// why, and those that are being undone.
struct TransactionsAtWork {
  struct Undoing {
    std::string transaction_id;
    std::string stand;  ///< changes whenever there may be a next step
  };
  std::vector<std::pair<std::string, std::int64_t>> open;   ///< id, until_ms
  std::vector<std::pair<std::string, std::string>> failed;  ///< id, reason
  std::vector<Undoing> undoing;
};
TransactionsAtWork transactions_at_work(StatementCache& sql);

/// OperationBlocked: a transaction does not wait for a person. `why` he is to be asked, without a full stop.
[[noreturn]] void throw_needs_person(const WriteRecord& write, const std::string& why);

/// It happens at once, and has not yet; nothing has gone wrong so far.
bool may_end_well(const WriteRecord& write);
/// Why a transaction with this write cannot be committed, a sentence; empty: this one does not stand against it.
std::string why_not_committed(const WriteRecord& write);

}  // namespace krux
