// What the service has and the replica could not take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/collection.hpp"
#include "core/storage/statement.hpp"

namespace krux {

struct Sweep {
  std::string collection, scope;
  std::int64_t generation, from_ms, to_ms;
};

/// As people see it.
struct LeftOutRecord {
  std::string collection, id, reason;
  std::int64_t since_ms = 0, seen_ms = 0;
};

struct LeftOutCounts {
  std::int64_t rows = 0, served = 0;  ///< in all, and of the sets that reads are answered from
};

/// What of a record is left out. A kept text's record is there, and is found by its own text alone.
enum class LeftOutPart { kRecord, kKeptText };

/// The table of it, by set of tables (collection_sets.hpp), within a transaction of the caller's. Throws krux::Error
/// DatabaseError.
class LeftOutTable {
 public:
  explicit LeftOutTable(StatementCache& statements) : statements_(statements) {}

  LeftOutCounts counts();
  /// Of the sets that are served: those that were seen last, the latest first.
  std::vector<LeftOutRecord> latest(std::int64_t limit);

  /// Of `record` its identity, scope, time and generation count, whatever stands there.
  void note(const std::string& set, const Record& record, LeftOutPart part, std::string_view reason,
            std::int64_t now_ms);
  void forget(const std::string& set, std::string_view id, LeftOutPart part);
  void forget(const std::string& set, std::string_view id);
  /// As the records themselves would be swept.
  void sweep(const std::string& set, const Sweep& sweep);
  /// Those of sets that there are no more.
  void sweep_sets();

  bool changed() const { return changed_; }

 private:
  StatementCache& statements_;
  bool changed_ = false;
};

}  // namespace krux
