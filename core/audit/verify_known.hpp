// What others know of an audit log's rows: its own head, the ledger, the running host, signed heads outside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/anchors.hpp"
#include "core/audit/verify.hpp"
#include "core/audit/verify_trust.hpp"

namespace krux {

class KnownRows {
 public:
  void add(KnownRow row);
  /// The heads of `file`. Throws krux::Error InvalidInput where it cannot be read, and
  /// where it `must_be` and is not there. Problems and notes go to `check`.
  void read(const std::filesystem::path& file, bool must_be, AuditCheck& check);
  /// Each row in its turn.
  void compare(std::int64_t seq, const AuditHash& hash);

  /// Who vouches for keys: `key`, or else whoever has signed the first head of the file.
  AuditRoots roots(const std::string& key, bool from_first_row) const;
  /// When all rows were compared.
  void judge(const AuditTrust& trust, const std::string& key, AuditCheck& check) const;

 private:
  struct Known {
    KnownRow row;
    std::optional<Anchor> head{};  ///< nothing: it is no line's
    bool same = false, differs = false;
  };
  void judge_gone(const Known& known, const AuditTrust& trust, AuditCheck& check) const;
  void judge_others(const AuditTrust& trust, const std::string& key, AuditCheck& check) const;

  std::multimap<std::int64_t, Known> known_;
  std::vector<Anchor> others_;  ///< heads of other logs
  std::string where_, first_key_;
};

/// At most kMostProblems.
void add_problem(AuditCheck& check, std::int64_t seq, const char* kind, std::string message);
std::string rows_in_words(std::int64_t from, std::int64_t through);

}  // namespace krux
