// How often something is done, by the clock.
#pragma once
#include <chrono>

namespace confined {

using Clock = std::chrono::steady_clock;

/// One thread.
class Pace {
 public:
  explicit Pace(Clock::duration gap) : gap_(gap) {}

  /// True at most once in each gap; the next one is counted from `now`.
  bool is_due(Clock::time_point now) {
    if (now < next_) return false;
    next_ = now + gap_;
    return true;
  }
  Clock::duration until_due(Clock::time_point now) const { return now < next_ ? next_ - now : Clock::duration::zero(); }

 private:
  const Clock::duration gap_;
  Clock::time_point next_{};
};

}  // namespace confined
