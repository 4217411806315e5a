// The system's clock, moved on where an adapter asks to wait: a check does not sit through a Retry-After.
#pragma once

#include <atomic>

#include "core/util/clock.hpp"

namespace krux::certify {

/// Any thread. advance() only while no call runs: deadlines are judged by it.
class KitClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return system_.wall_ms() + offset_ms_; }
  std::int64_t boot_ms() const override { return system_.boot_ms() + offset_ms_; }
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv, std::int64_t until_boot_ms,
                  const std::function<bool()>& stop_waiting) override {
    return system_.wait_until(lock, cv, until_boot_ms - offset_ms_, stop_waiting);
  }
  void advance(std::int64_t ms) { offset_ms_ += ms; }

 private:
  SystemClock system_;
  std::atomic<std::int64_t> offset_ms_{0};
};

}  // namespace krux::certify
