// Rows of table `attempts`: what was done about a write. Internal to the ledger.
#pragma once

#include <cstdint>
#include <string>

#include "core/storage/statement.hpp"
#include "core/write/ledger_rows.hpp"
#include "core/write/write.hpp"

namespace krux {

/// What has ended; it stands behind everything that was done about the write before.
void add_to_history(StatementCache& sql, std::int64_t write_seq, const AttemptRecord& record);

/// The attempt under way, which stood in the write's row alone, has ended.
void end_attempt(StatementCache& sql, const LedgerRow& row, std::int64_t now_ms, const char* outcome,
                 const std::string& wire, const std::string& message);

}  // namespace krux
