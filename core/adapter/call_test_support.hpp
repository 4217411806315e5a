// Calls that hang as a test wants, and their ends.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/adapter/call_runner.hpp"

namespace krux::call_test {

/// A door that bodies wait at without looking at the call: how an adapter hangs.
class Door {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    cv_.notify_all();
    cv_.wait(lock, [&] { return open_; });
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    cv_.wait(lock, [&] { return waiting_ >= count; });
  }
  int waited() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    cv_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable cv_;
  bool open_ = false;
  int waiting_ = 0;
};

inline CallContextPtr make_call(const Clock& clock, std::int64_t ms, const std::string& service = "notes") {
  return std::make_shared<CallContext>(CallOwner{service, "a1", 1, "", 0}, clock, clock.boot_ms() + ms);
}

/// Waits until something that other threads do has happened; no delay of the code under test depends on it.
template <class Condition>
void eventually(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

struct Started {
  std::promise<CallRunner::End> promise;
  std::future<CallRunner::End> end = promise.get_future();
};

/// Starts a call and gives its end as a future. A second `done` would throw from set_value and end the test program.
inline std::shared_ptr<Started> start(CallRunner& runner, const CallContextPtr& call,
                                      const std::shared_ptr<AdapterHealth>& health, std::function<void()> body,
                                      CallTurn turn = {}) {
  auto started = std::make_shared<Started>();
  runner.start(
      call, health, std::move(body), [started](CallRunner::End end) { started->promise.set_value(end); },
      std::move(turn));
  return started;
}

}  // namespace krux::call_test
