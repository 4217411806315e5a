// How an event loop waits for what comes next. Internal to the HTTP server.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>

namespace krux {

/// A client that asks again as soon as it is answered is waited for awake: it took a sleeping thread some 35 us to be
/// woken (docs/adr/0031). A wait that is awake ends after 150 us at most, and the next one sleeps unless that brought
/// something: a single call may cost so much, an idle host nothing. While it is awake a loop gives way to whatever else
/// has something to do. Not thread-safe.
class LoopWait {
 public:
  /// Nanoseconds that only go on.
  using Now = std::int64_t (*)();
  /// Of all loops of the process `places` at most are awake at a time.
  explicit LoopWait(std::atomic<int>& places, Now now = steady_ns) : places_(places), now_(now) {}

  /// Does one step of the loop, as soon as there is one. Returns without where the loop has been stopped.
  void run_one(boost::asio::io_context& context);
  /// One processor is left to clients; where there is but one, no loop is awake.
  static std::atomic<int>& places_of_process();

 private:
  static std::int64_t steady_ns();
  /// False: nothing has come, and it is time to sleep.
  bool step_awake(boost::asio::io_context& context, std::int64_t since);

  std::atomic<int>& places_;
  const Now now_;
  bool comes_soon_ = false;  ///< what was waited for last came before sleeping would have paid
};

}  // namespace krux
