// The hashes by which rows of the audit log hold together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/audit/audit_entry.hpp"

namespace krux {

/// A row without its own hash, as it stands somewhere else.
struct AuditRowView {
  std::int64_t seq = 0, at_ms = 0, source = 0;
  std::string_view kind, agent_id, service, account_id, write_id, body;
};
AuditRowView view_of(const AuditRow& row);

/// Of the row behind the one with the hash `prev`.
AuditHash chain_hash(const AuditHash& prev, const AuditRowView& row);

/// What the first row stands behind.
AuditHash first_prev(std::string_view log_id);

std::string hash_hex(const AuditHash& hash);
/// Nothing where it is no hash.
std::optional<AuditHash> hash_of_hex(std::string_view hex);
std::optional<AuditHash> hash_of_blob(std::string_view bytes);
std::string_view blob_of(const AuditHash& hash);

}  // namespace krux
