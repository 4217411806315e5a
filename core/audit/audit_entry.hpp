// What the audit log holds. docs/audit.md has its form.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace krux {

/// Nothing in it may be a secret.
struct AuditEntry {
  std::string kind;  ///< "write.submitted"
  std::int64_t at_ms = 0;
  std::string agent_id, service, account_id, write_id;  ///< empty: of none
  std::string body = "{}";                              ///< one JSON object
};

/// One that happened in the ledger, or none (`source` 0).
struct SourcedEntry : AuditEntry {
  std::int64_t source = 0;  ///< its number in the ledger's outbox
};

/// One of the log's own.
inline SourcedEntry own_entry(const char* kind, std::int64_t at_ms, std::string body) {
  SourcedEntry entry;
  entry.kind = kind;
  entry.at_ms = at_ms;
  entry.body = std::move(body);
  return entry;
}

/// Of SHA-256.
using AuditHash = std::array<unsigned char, 32>;

/// As it is chained.
struct AuditRow : SourcedEntry {
  std::int64_t seq = 0;
  AuditHash prev{}, hash{};
};

}  // namespace krux
