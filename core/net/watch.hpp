// What one exchange waits on: the thread that called send() sleeps here while the network does its part.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace krux {

/// One waiting thread; any others may interrupt. Held by shared_ptr where a late completion may outlive the wait.
class Watch {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  enum class Ended { kDone, kDeadline, kCancelled, kStopping };

  explicit Watch(Instant deadline) : deadline_(deadline) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Instant deadline() const { return deadline_; }

  /// Ends this wait and every later one; the first reason stays.
  void interrupt(Ended why) {
    const std::lock_guard lock(mutex_);
    if (interrupted_ == Ended::kDone) interrupted_ = why;
    changed_.notify_all();
  }

  /// Runs `store`, which sets what wait() looks at. Notifies under the lock: the waiter may destroy this at once.
  template <class Store>
  void complete(Store store) {
    const std::lock_guard lock(mutex_);
    store();
    changed_.notify_all();
  }

  /// Until `done` is set by complete(), an interruption, or `until` (never beyond the deadline).
  Ended wait(const bool& done, Instant until) {
    until = std::min(until, deadline_);
    std::unique_lock lock(mutex_);
    const auto over = [&] { return done || interrupted_ != Ended::kDone; };
    changed_.wait_until(lock, until, over);
    if (done) return Ended::kDone;
    return interrupted_ != Ended::kDone ? interrupted_ : Ended::kDeadline;
  }

  /// For a completion that is certain to come at once.
  void wait_only(const bool& done) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done; });
  }

  /// Why the exchange must end now, or kDone.
  Ended state() {
    const std::lock_guard lock(mutex_);
    if (interrupted_ != Ended::kDone) return interrupted_;
    return std::chrono::steady_clock::now() >= deadline_ ? Ended::kDeadline : Ended::kDone;
  }

 private:
  const Instant deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Ended interrupted_ = Ended::kDone;
};

}  // namespace krux
