// How much of what stands in the ledger, for metrics: counted in SQL, with no content of any write.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/storage/group_commit.hpp"
#include "core/storage/reader_pool.hpp"

namespace krux {

struct LedgerFigures {
  std::map<std::string, std::int64_t> by_state;  ///< all writes there are
  std::int64_t held_as_copy = 0;                 ///< held, because the data directory may be a copy

  /// Writes of one account and state that have not ended.
  struct Open {
    std::string service, account_id, state;
    std::int64_t count = 0;  ///< of those that are buffered at most kMostCounted
    /// The earliest: when it became unknown, or was asked for. 0 of those that are buffered.
    std::int64_t oldest_ms = 0;
  };
  std::vector<Open> open;

  /// Writes that wait for a person.
  struct Need {
    std::string service, account_id;
    std::int64_t count = 0;
  };
  std::vector<Need> need_decision;

  /// When the write of the account that has waited longest for its turn, and that no pause holds, was due; 0: none
  /// waits.
  struct Due {
    std::string service, account_id;
    std::int64_t due_at_ms = 0;
  };
  std::vector<Due> due;

  struct Alerts {
    std::string severity, kind;
    std::int64_t open = 0;
  };
  std::vector<Alerts> alerts;
  std::int64_t alerts_raised = 0;  ///< since the ledger was made
};

/// Any thread that may block.
class LedgerFiguresReader {
 public:
  /// So many buffered writes of an account are counted one by one; a million would take as long as a million searches.
  static constexpr std::int64_t kMostCounted = 100'000;

  /// `store` must outlive this.
  explicit LedgerFiguresReader(const GroupCommit& store) : readers_(store.file(), store.kind()) {}

  /// Throws krux::Error DatabaseError.
  LedgerFigures read();

 private:
  ReaderPool readers_;
};

}  // namespace krux
