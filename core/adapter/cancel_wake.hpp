// Waiting that ends when a call is cancelled.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/adapter/call.hpp"

namespace krux {

/// Wakes who waits on `changed` when the call is cancelled, for as long as it lives. All must outlive it.
class CancelWake {
 public:
  CancelWake(const CallContextPtr& call, std::mutex& mutex, std::condition_variable& changed) : call_(call) {
    token_ = call->on_cancel([&mutex, &changed] {
      { const std::lock_guard lock(mutex); }
      changed.notify_all();
    });
  }
  ~CancelWake() { call_->drop_on_cancel(token_); }
  CancelWake(const CancelWake&) = delete;
  CancelWake& operator=(const CancelWake&) = delete;

 private:
  const CallContextPtr& call_;
  std::uint64_t token_;
};

}  // namespace krux
