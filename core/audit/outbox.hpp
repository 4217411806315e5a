// What is to be audited of writes, in the ledger until it is chained.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/audit/audit_entry.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// In the transaction of what it tells of.
void put_in_outbox(StatementCache& sql, const AuditEntry& entry);

/// One for each write that `where` finds, in the order of their seq: "SELECT ... FROM writes WHERE " + where. Each body
/// is `body`.
void put_all_in_outbox(StatementCache& sql, std::string_view kind, std::int64_t at_ms, std::string_view body,
                       const std::string& where);

/// Behind number `after`, in order, `most` at once.
std::vector<SourcedEntry> read_outbox(StatementCache& sql, std::int64_t after, std::int64_t most);
/// The number of the last row that was put there; 0: none ever was.
std::int64_t last_in_outbox(StatementCache& sql);

/// How far the log is known to be.
struct AuditHead {
  std::int64_t seq = 0;  ///< 0: nowhere
  AuditHash hash{};
};
/// Takes out what is chained, up to `source`, but for the last row. The head is noted unless a later one is: that one
/// is the evidence of what was cut off.
void forget_chained(StatementCache& sql, std::int64_t source, const AuditHead& head);
/// As it was noted when rows were taken out last.
AuditHead noted_head(StatementCache& sql);

}  // namespace krux
