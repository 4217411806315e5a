// How soon a program that ends again and again is started again.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mcp {

/// Times are Unix milliseconds of the host's clock. One thread, or under a lock.
class Restarts {
 public:
  /// How long it is to be waited for the next start; 0: it may be now.
  std::int64_t wait_ms(std::int64_t now_ms) const {
    if (gap_ms_ == 0 || now_ms < started_ms_) return 0;  // the clock may be set back
    return std::max<std::int64_t>(0, started_ms_ + gap_ms_ - now_ms);
  }
  /// The first start and the second follow each other at once, those after them 1, 2, 4 … 60 s after the one before.
  void started(std::int64_t now_ms) {
    started_ms_ = now_ms;
    gap_ms_ = starts_ == 0 ? 0 : std::min<std::int64_t>(kLongestMs, gap_ms_ == 0 ? kShortestMs : gap_ms_ * 2);
    ++starts_;
  }
  /// It was of use, or was not started at all: the gaps begin anew.
  void begin_anew() {
    starts_ = 1;
    gap_ms_ = 0;
  }

 private:
  static constexpr std::int64_t kShortestMs = 1'000, kLongestMs = 60'000;
  std::int64_t started_ms_ = 0, gap_ms_ = 0, starts_ = 0;
};

}  // namespace mcp
