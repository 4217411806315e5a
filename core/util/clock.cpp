#include "core/util/clock.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace krux {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t SystemClock::wall_ms() const {
  return read_clock(CLOCK_REALTIME);
}
std::int64_t SystemClock::boot_ms() const {
  return read_clock(CLOCK_BOOTTIME);
}

bool SystemClock::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                             std::int64_t until_boot_ms, const std::function<bool()>& stop_waiting) {
  // A condition variable counts CLOCK_MONOTONIC, which stands still while the machine sleeps: wait in slices so that a
  // wake-up after suspend is noticed within one of them.
  constexpr std::int64_t slice_ms = 60'000;
  while (!stop_waiting()) {
    const auto left = until_boot_ms - boot_ms();
    if (left <= 0) return false;
    cv.wait_for(lock, std::chrono::milliseconds(std::min(left, slice_ms)));
  }
  return true;
}

DrivenClock::DrivenClock(std::int64_t wall_ms, std::int64_t boot_ms) : wall_ms_(wall_ms), boot_ms_(boot_ms) {}

bool DrivenClock::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                             std::int64_t until_boot_ms, const std::function<bool()>& stop_waiting) {
  std::list<Waiter>::iterator self;
  {
    const std::lock_guard guard(mutex_);
    self = waiters_.insert(waiters_.end(), {lock.mutex(), &cv, until_boot_ms});
  }
  bool stop = stop_waiting();
  while (!stop && boot_ms() < until_boot_ms) {
    cv.wait(lock);
    stop = stop_waiting();
  }
  {
    const std::lock_guard guard(mutex_);
    waiters_.erase(self);
  }
  // Without the caller's lock, which a wake-up may be about to take.
  lock.unlock();
  {
    std::unique_lock guard(mutex_);
    no_wake_up_.wait(guard, [this] { return wake_ups_ == 0; });
  }
  lock.lock();
  return stop || stop_waiting();
}

void DrivenClock::advance(std::int64_t ms) {
  wall_ms_ += ms;
  boot_ms_ += ms;
  wake();
}

void DrivenClock::jump_wall(std::int64_t ms) {
  wall_ms_ += ms;
  wake();
}

void DrivenClock::wake() {
  // Each waiter's own mutex is taken in turn, never together with mutex_: a waiter holds them in the other order. While
  // its mutex is held here it is either before its check of the time or inside wait(), so that the wake-up cannot be
  // missed.
  std::list<Waiter> all;
  {
    const std::lock_guard guard(mutex_);
    ++wake_ups_;
    all = waiters_;
  }
  for (const auto& w : all) {
    { const std::lock_guard guard(*w.mutex); }
    w.cv->notify_all();
  }
  const std::lock_guard guard(mutex_);
  --wake_ups_;
  no_wake_up_.notify_all();
}

int DrivenClock::waiters() const {
  const std::lock_guard guard(mutex_);
  return static_cast<int>(waiters_.size());
}

std::int64_t DrivenClock::next_wake_boot_ms() const {
  const std::lock_guard guard(mutex_);
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const auto& w : waiters_) next = std::min(next, w.until);
  return next;
}

}  // namespace krux
