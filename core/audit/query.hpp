// Reading the audit log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/audit/audit_entry.hpp"
#include "core/util/json.hpp"

namespace krux {

struct AuditFilter {
  std::string agent_id, service, write_id;  ///< empty: any
  std::string kind;                         ///< that, and what begins with it and a dot; empty: any
  std::int64_t since_ms = 0, until_ms = 0;  ///< 0: any
  std::int64_t before_seq = 0;              ///< pages back from here; 0: from the end
  std::int64_t limit = 50;                  ///< at most kMostAuditRows
};
inline constexpr std::int64_t kMostAuditRows = 1000;

/// Newest first. Throws krux::Error DatabaseError.
std::vector<AuditRow> find_audit_rows(const std::filesystem::path& file, const AuditFilter& filter);
/// All of them behind `after`, oldest first, `limit` at once.
std::vector<AuditRow> audit_rows_after(const std::filesystem::path& file, std::int64_t after, std::int64_t limit);

/// What happened to a write and what was decided about it, oldest first: its rows "write.…". What agents only asked
/// about it (the same again, among others) is not among them, so that no agent makes them too many.
struct RowsOfWrite {
  std::vector<AuditRow> rows;
  bool more = false;  ///< there are more than kMostRowsOfWrite
};
inline constexpr std::int64_t kMostRowsOfWrite = 10'000;
RowsOfWrite audit_rows_of_write(const std::filesystem::path& file, const std::string& write_id);

/// Members of an object, for people and programs: the body is an object.
void put_audit_row(JsonWriter& out, const AuditRow& row);
/// One that its hash can be checked by: the body is a text, as it is hashed.
void put_exported_row(JsonWriter& out, const AuditRow& row);

}  // namespace krux
