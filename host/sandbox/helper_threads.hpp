// Threads that serve one request each and go; counted, so that the host knows when none is left.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace krux {

/// Any thread.
class HelperThreads {
 public:
  /// False: the machine has no thread to give. `body` must not throw and owns what it needs.
  bool start(std::function<void()> body) {
    const auto state = state_;
    {
      const std::lock_guard lock(state->mutex);
      ++state->running;
    }
    try {
      std::thread([state, body = std::move(body)]() mutable {
        body();
        body = {};  // what it owned goes before it counts as gone
        done(*state);
      }).detach();
      return true;
    } catch (const std::system_error&) {
      done(*state);
      return false;
    }
  }

  /// In real time. False: some still run.
  bool wait_until_idle(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    return state_->idle.wait_for(lock, limit, [&] { return state_->running == 0; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable idle;
    int running = 0;
  };
  static void done(State& state) {
    const std::lock_guard lock(state.mutex);
    if (--state.running == 0) state.idle.notify_all();
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace krux
