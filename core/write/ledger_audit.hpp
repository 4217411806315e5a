// What the audit log learns of a write: written where its row is. Internal to the ledger.
#pragma once

#include <cstdint>
#include <string>

#include "core/storage/statement.hpp"
#include "core/write/transition.hpp"
#include "core/write/write.hpp"

namespace krux {

struct LedgerRow;

/// What transition() has made of a row, until that is written.
struct AuditedChange {
  WriteEvent event;
  WriteState from;
  std::int64_t at_ms = 0;
  std::string from_hash;  ///< of the content before, where an edit replaces it
};

/// Of a new row.
void audit_admission(StatementCache& sql, const LedgerRow& row);
/// Of each change of the row; they are told then.
void audit_changes(StatementCache& sql, LedgerRow& row);
/// "write.claim"
std::string audit_kind(std::string_view event);

}  // namespace krux
