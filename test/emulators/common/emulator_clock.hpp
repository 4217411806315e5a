// The emulator's time: real, or driven by the control plane. Unix milliseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace krux::test::emulator {

class EmulatorClock {
 public:
  static EmulatorClock real() { return EmulatorClock(false, 0); }
  static EmulatorClock driven(std::int64_t start_ms) { return EmulatorClock(true, start_ms); }

  std::int64_t now_ms() const {
    if (driven_) return now_ms_;
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  bool is_driven() const { return driven_; }
  // Only on a driven clock.
  void set_ms(std::int64_t now_ms) { now_ms_ = now_ms; }
  void advance_ms(std::int64_t by_ms) { now_ms_ += by_ms; }

 private:
  EmulatorClock(bool driven, std::int64_t now_ms) : driven_(driven), now_ms_(now_ms) {}

  bool driven_;
  std::int64_t now_ms_;
};

}  // namespace krux::test::emulator
