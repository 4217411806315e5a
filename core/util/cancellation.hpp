// Whether somebody still waits for what he has asked for.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace krux {

/// Any thread.
class Cancellation {
 public:
  /// Nobody waits any more. What on_cancel() was given runs on this thread.
  void cancel() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      callback = std::exchange(callback_, nullptr);
    }
    if (callback) callback();
  }
  bool cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }
  /// `callback` must not block. It takes the place of an earlier one, and runs at once where it is so already.
  void on_cancel(std::function<void()> callback) {
    {
      const std::lock_guard lock(mutex_);
      if (!cancelled_) std::swap(callback_, callback);
      if (!cancelled_) return;
    }
    if (callback) callback();
  }

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  std::function<void()> callback_;
};

}  // namespace krux
