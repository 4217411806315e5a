// Reading and writing rows of table `writes`. Internal to the ledger.
#pragma once

#include <string>

#include "core/storage/statement.hpp"
#include "core/write/transition.hpp"
#include "core/write/write.hpp"

namespace krux {

/// A write with what only the ledger needs of it.
struct LedgerRow {
  BufferedWrite write;
  std::int64_t due_boot_ms = 0, boot = 0;  ///< of write.due_at_ms, where that is not 0
  std::int64_t owner_epoch = 0;
};

/// "SELECT <every column> FROM writes WHERE " + `where`.
std::string select_rows(const std::string& where);
/// The seq of the write with that id, should it exist: its rows are asked for by both, `kById`.
std::int64_t seq_of_id(const std::string& write_id);
inline constexpr const char* kById = "seq = ?1 AND write_id = ?2";
LedgerRow read_row(const Statement& statement);

/// The first 64 bits of a content hash: column `intent`.
std::int64_t intent_of(const std::string& content_hash);

/// Gives the write its id and seq: greater than all before, and of the time of its creation unless others took that.
void number_row(StatementCache& sql, LedgerRow& row);
void insert_row(StatementCache& sql, const LedgerRow& row);
/// What an edit changes; update_row() has the rest.
void update_content(StatementCache& sql, const BufferedWrite& write);
/// Everything that changes after the insert, but note_json, point_json and what an edit changes.
void update_row(StatementCache& sql, const LedgerRow& row);

inline WritePhase phase_of(const BufferedWrite& write) {
  return {write.state, write.closed, write.told_person};
}

}  // namespace krux
