// Whose word counts in an audit log: the keys in force, row by row, and what they have signed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/audit/verify.hpp"

namespace krux {

/// What a row says under a signature.
struct AuditWord {
  enum class Kind { kKey, kCut } kind = Kind::kKey;
  std::int64_t seq = 0;
  std::string key;           ///< that has signed it; of log.key the one that is replaced, empty: none
  std::string next;          ///< of log.key: the one in force from here on
  bool agreed = false;       ///< the signature is that of `key`
  std::int64_t through = 0;  ///< of log.cut: the last row that went
  AuditHash hash{};          ///< and its hash
};

struct AuditRoots {
  bool from_first_row = false;  ///< the log is there from row 1: its first key is that of the log
  std::set<std::string> keys;   ///< that somebody outside of the log vouches for
  std::int64_t vouched = 0;     ///< one of them has signed a head at that row, and it is the one of this log
};

using AuditCuts = std::multimap<std::int64_t, AuditWord>;  ///< by the last row that each took out
const AuditWord* find_cut(const AuditCuts& cuts, std::int64_t through, const AuditHash& hash);

struct AuditTrust {
  std::string key;             ///< in force at the end; empty: none that is known
  std::set<std::string> keys;  ///< that ever were
  AuditCuts cuts;              ///< by the key that was in force there
  AuditCuts unknown_cuts;      ///< by keys that nobody vouches for
  std::vector<AuditProblem> problems;
};

/// `words` in the order of their rows.
AuditTrust weigh(const std::vector<AuditWord>& words, const AuditRoots& roots);

}  // namespace krux
