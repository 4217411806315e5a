// Looks after the sockets of event loops that have lent their threads. Internal to the HTTP server.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/util/descriptor.hpp"

namespace krux {

class LoopLead;

/// One thread for all loops of a server. It sleeps unless a thread is lent, or was half a millisecond ago.
class LoopWatch {
 public:
  /// Throws std::system_error where the system has no timer left.
  LoopWatch();
  ~LoopWatch();  ///< stop()
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  /// `loops` stay until stop(). Throws std::system_error where the system has no thread left.
  void start(std::vector<LoopLead*> loops);
  void stop();

  // Any thread.
  void lent();   ///< a loop has lent its thread: it is looked at soon
  void hurry();  ///< such a loop has got something to do: it is looked at now

 private:
  void run();
  void wake_after(std::int64_t us) const;

  const Descriptor timer_;
  std::vector<LoopLead*> loops_;
  std::atomic<bool> armed_{false}, stopping_{false};
  std::thread thread_;
};

}  // namespace krux
