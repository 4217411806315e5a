// The rowid of a record in a collection ordered by time: ascending rowid is newest first.
#pragma once

#include <algorithm>
#include <cstdint>

namespace krux {

/// Millisecond part above, a sequence below, so that records of one millisecond have room and the order is exact.
constexpr int kSequenceBits = 16;
constexpr std::int64_t kTimeBound = std::int64_t{1}
                                    << 44;  ///< order_ms lies strictly between -this and this: years 1412 to 2527

constexpr bool is_time(std::int64_t ms) {
  return ms > -kTimeBound && ms < kTimeBound;
}
constexpr std::int64_t first_key(std::int64_t ms) {
  return (kTimeBound - ms) << kSequenceBits;
}
constexpr std::int64_t last_key(std::int64_t ms) {
  return first_key(ms) + (std::int64_t{1} << kSequenceBits) - 1;
}

/// Keys from `low` to `high`, both included; nothing when low > high.
struct KeyRange {
  std::int64_t low, high;
};

/// The keys of order_ms in [from_ms, to_ms], whatever these are.
constexpr KeyRange keys_between(std::int64_t from_ms, std::int64_t to_ms) {
  if (from_ms > to_ms || from_ms >= kTimeBound || to_ms <= -kTimeBound) return {1, 0};
  return {first_key(std::min(to_ms, kTimeBound - 1)), last_key(std::max(from_ms, 1 - kTimeBound))};
}

}  // namespace krux
