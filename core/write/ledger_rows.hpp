// Reading and writing rows of table `writes`. Internal to the ledger.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/storage/statement.hpp"
#include "core/write/ledger_audit.hpp"
#include "core/write/transition.hpp"
#include "core/write/write.hpp"

namespace krux {

/// A write with what only the ledger needs of it.
struct LedgerRow {
  WriteRecord write;
  std::int64_t
      due_boot_ms = 0,
      boot = 0;  ///< of write.due_at_ms where that is not 0; `boot` also of what is executing: when it was claimed
  /// The run of the host that claimed it last; 0 too when that run has ended and its requests are over.
  std::int64_t owner_epoch = 0;
  bool waits_for_connection = false;     ///< the next try or look waits until the account's token works
  std::int64_t claimed_at_ms = 0;        ///< when the attempt under way, or the last one, began; 0: none has
  std::optional<WritePhase> counted;     ///< what table `counters` counts it as; nothing: it has no row yet
  std::vector<AuditedChange> changes{};  ///< that update_row() tells the audit log
  AuditedDecision audited{};
};

/// "SELECT <every column> FROM writes WHERE " + `where`.
std::string select_rows(const std::string& where);
/// A write's row is asked for by its seq, which its id tells, and its id.
inline constexpr const char* kById = "seq = ?1 AND write_id = ?2";
LedgerRow read_row(const Statement& statement);
/// The statement's first row; it is reset afterwards.
std::optional<LedgerRow> first_row(Statement& rows);
/// The row of the write with that id.
std::optional<LedgerRow> row_of(StatementCache& sql, const std::string& write_id);
/// Of a row that stands there.
LedgerRow row_of_seq(StatementCache& sql, std::int64_t seq);
/// Likewise of one that another row names. Throws krux::Error DatabaseError.
LedgerRow must_have_row(StatementCache& sql, const std::string& write_id);

/// A wish as a row, but for its time clocks and its id.
LedgerRow admit(const NewWrite& asked, std::int64_t now_ms);
/// A write of the host's own about another one: due at once, on the terms of that one.
NewWrite write_about(const WriteRecord& subject, const char* operation, std::string params_json, std::string summary);

/// Whether the connection that the account's writes were accepted for is gone. (A ledger without its row is not a
/// host's.)
bool is_disconnected(StatementCache& sql, const AccountRef& account);
/// A write goes out on the connection that it was accepted for, or never: throws krux::Error NotConnected.
void must_still_be_connected(StatementCache& sql, const WriteRecord& write);

/// The first 64 bits of a content hash: column `intent`.
std::int64_t intent_of(const std::string& content_hash);

/// Of the machine's boot with this id, which is noted where it is new.
std::int64_t number_of_boot(StatementCache& sql, const std::string& boot_id);

/// Gives the write its id and seq: greater than all before, and of the time of its creation unless others took that.
void number_row(StatementCache& sql, LedgerRow& row);
/// This and update_row() count the row too, and tell the audit log.
void insert_row(StatementCache& sql, LedgerRow& row);
/// What an edit changes; update_row() has the rest.
void update_content(StatementCache& sql, const WriteRecord& write);
/// What it counts as, and since when.
void update_counted(StatementCache& sql, const WriteRecord& write);
/// Everything that changes after the insert, but note_json, point_json and what an edit changes.
void update_row(StatementCache& sql, LedgerRow& row);

inline WritePhase phase_of(const WriteRecord& write) {
  return {write.state,        write.irrevocable,     write.escalated,
          write.held_as_copy, write.reconcile_first, write.release_wanted};
}

}  // namespace krux
