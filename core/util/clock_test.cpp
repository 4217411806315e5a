#include "core/util/clock.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace KRUXOS_TEST_FILE {

using krux::DrivenClock;

TEST_CASE("a driven clock wakes a waiter when its time has come and not before") {
  DrivenClock clock;
  std::mutex mutex;
  std::condition_variable cv;
  const auto until = clock.boot_ms() + 100;
  std::atomic<bool> woke{false};
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    CHECK_FALSE(clock.wait_until(lock, cv, until, [] { return false; }));
    woke = true;
  });
  while (clock.waiters() == 0) std::this_thread::yield();
  CHECK(clock.next_wake_boot_ms() == until);
  clock.advance(99);
  CHECK_FALSE(woke);
  clock.advance(1);
  waiter.join();
  CHECK(woke);
  CHECK(clock.waiters() == 0);
}

TEST_CASE("a notified waiter stops when its predicate says so, whatever the time") {
  DrivenClock clock;
  std::mutex mutex;
  std::condition_variable cv;
  bool stop = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    CHECK(clock.wait_until(lock, cv, clock.boot_ms() + 1'000'000, [&] { return stop; }));
  });
  while (clock.waiters() == 0) std::this_thread::yield();
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  cv.notify_all();
  waiter.join();
}

TEST_CASE("the wall clock jumps alone") {
  DrivenClock clock(1000, 50);
  clock.jump_wall(-500);
  CHECK(clock.wall_ms() == 500);
  CHECK(clock.boot_ms() == 50);
}

}  // namespace KRUXOS_TEST_FILE
