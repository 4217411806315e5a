// How people decide: what shows that approvals have become a habit.
#pragma once

#include <cstdint>

#include "core/storage/group_commit.hpp"
#include "core/storage/reader_pool.hpp"
#include "core/util/clock.hpp"

namespace krux {

/// Of writes that were asked for in the last seven days, the latest ten thousand decisions at most.
struct ApprovalFigures {
  static constexpr std::int64_t kWindowMs = 7 * 86'400'000LL, kAtOnceMs = 5'000;

  std::int64_t accepted = 0, rejected = 0;
  std::int64_t last_hour = 0;  ///< decided in it
  std::int64_t at_once = 0;    ///< decided within kAtOnceMs
  std::int64_t median_ms = 0;  ///< from asking to deciding; 0: nothing was decided
};

/// Any thread that may block.
class ApprovalFiguresReader {
 public:
  /// Both must outlive this.
  ApprovalFiguresReader(const GroupCommit& store, const Clock& clock)
      : readers_(store.file(), store.kind()), clock_(clock) {}

  /// Throws krux::Error DatabaseError.
  ApprovalFigures read();

 private:
  ReaderPool readers_;
  const Clock& clock_;
};

}  // namespace krux
