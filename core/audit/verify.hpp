// Whether an audit log is as it was written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/audit/audit_entry.hpp"

namespace krux {

/// A row that was in the log by somebody else's word.
struct KnownRow {
  std::int64_t seq = 0;
  AuditHash hash{};
  std::string known_by;  ///< "the ledger": behind "as ... knows it"
};

struct AuditProblem {
  std::int64_t seq = 0;  ///< of the row that it is about
  std::string kind;      ///< "changed", "missing", "moved", "replaced", "cut", "lost", "signature"
  std::string message;   ///< a sentence
};

struct AuditCheck {
  std::string log_id;
  std::int64_t rows = 0, first = 0, last = 0;
  AuditHash head{};
  std::vector<AuditProblem> problems;  ///< in the order of the rows; no more than kMostProblems
  bool more_problems = false;
  std::vector<std::string> notes;                    ///< what is in order, and worth knowing
  std::int64_t heads = 0;                            ///< signed ones that were compared with rows
  std::int64_t newest_head = 0, newest_head_ms = 0;  ///< the row of the last of them, and when it was signed

  bool whole() const { return problems.empty(); }
};
inline constexpr std::size_t kMostProblems = 100;

struct VerifyOptions {
  std::vector<KnownRow> known{};
  std::filesystem::path anchor_file{};  ///< with signed heads; empty: none
  std::string key{};                    ///< the public one that must be in force; empty: whichever is
  bool anchors_must_be = false;         ///< an error where that file is not there, rather than a note
};

/// Reads every row of `file`, beside a host that writes it or without one. Throws krux::Error where it, or the file
/// with the heads, cannot be read at all.
AuditCheck verify_audit(const std::filesystem::path& file, const VerifyOptions& options = {});

/// For operators, as the host and the command give it.
std::string audit_check_json(const AuditCheck& check);

}  // namespace krux
