// Time as a dependency: the host uses SystemClock, tests drive a DrivenClock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

namespace krux {

/// All members may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Unix milliseconds of the wall clock. It may jump.
  virtual std::int64_t wall_ms() const = 0;

  /// Milliseconds since boot, suspend included (CLOCK_BOOTTIME). It never goes back within one boot.
  virtual std::int64_t boot_ms() const = 0;

  /// Waits on `cv` until `stop_waiting()` is true or boot_ms() has reached `until_boot_ms`; returns stop_waiting().
  /// `lock` is held on entry, while the predicate runs, and on return. Notify `cv` as with any condition variable.
  virtual bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv, std::int64_t until_boot_ms,
                          const std::function<bool()>& stop_waiting) = 0;
};

class SystemClock final : public Clock {
 public:
  std::int64_t wall_ms() const override;
  std::int64_t boot_ms() const override;
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv, std::int64_t until_boot_ms,
                  const std::function<bool()>& stop_waiting) override;
};

/// Stands still until a test moves it. advance() wakes whoever waits for a time that has come.
class DrivenClock final : public Clock {
 public:
  explicit DrivenClock(std::int64_t wall_ms = 1'700'000'000'000, std::int64_t boot_ms = 1'000'000);

  std::int64_t wall_ms() const override { return wall_ms_.load(); }
  std::int64_t boot_ms() const override { return boot_ms_.load(); }
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv, std::int64_t until_boot_ms,
                  const std::function<bool()>& stop_waiting) override;

  /// Moves both clocks.
  void advance(std::int64_t ms);
  /// Moves the wall clock alone, as an administrator or NTP would.
  void jump_wall(std::int64_t ms);
  /// How many threads wait for a time to come, and the earliest of those times (INT64_MAX when none does): lets a test
  /// advance exactly to the next event.
  int waiters() const;
  std::int64_t next_wake_boot_ms() const;

 private:
  struct Waiter {
    std::mutex* mutex;
    std::condition_variable* cv;
    std::int64_t until;
  };
  void wake();

  std::atomic<std::int64_t> wall_ms_, boot_ms_;
  mutable std::mutex mutex_;
  std::list<Waiter> waiters_;
  int wake_ups_ = 0;  ///< under way: they hold pointers to waiters, which may not go before these are done
  std::condition_variable no_wake_up_;
};

}  // namespace krux
