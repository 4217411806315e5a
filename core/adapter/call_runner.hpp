// Worker threads for blocking work: adapter calls and what surrounds them, in lanes that do not wait for each other and
// queues that are served in turn (lane.hpp, docs/threads.md). A call that passes its deadline is abandoned: whoever
// waits is told, the thread is given up for lost and replaced, what it still holds stays alive until it returns.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/adapter/call.hpp"
#include "core/adapter/lane.hpp"

namespace krux {

/// Counts, for one adapter, the calls abandoned in a row; two of them quarantine it. Any thread.
class AdapterHealth {
 public:
  /// `on_quarantine` is called once each time the quarantine begins, on the thread that found it; it must be quick,
  /// must not throw, and what it uses must outlive the calls.
  explicit AdapterHealth(std::function<void()> on_quarantine = {}) : on_quarantine_(std::move(on_quarantine)) {}
  void returned();
  void abandoned();
  bool quarantined() const;
  void release();  ///< by the operator
  std::uint64_t abandoned_total() const;

 private:
  const std::function<void()> on_quarantine_;
  std::atomic<int> in_a_row_{0};
  std::atomic<std::uint64_t> total_{0};
};

class CallRunner {
 public:
  enum class End { kReturned, kAbandoned };

  struct Options {
    int threads = 8;  ///< that work, of a lane that names no number; lost ones are replaced
    /// Lost threads that may exist at once, half of them of one service or, of calls that belong to none, of one queue;
    /// beyond it new calls are refused until some return.
    int max_lost = 64;
    /// Between the deadline, when cancelled() turns true, and giving the call up. It is waited for by the clock, then
    /// once more in time in which the host itself ran: a host that was paused has not let the call hear of it.
    std::int64_t grace_ms = 250;
    std::array<LaneLimits, kLaneCount> lanes{};  ///< by Lane

    LaneLimits& of(Lane lane) { return lanes[static_cast<std::size_t>(lane)]; }
  };

  /// `clock` outlives the runner and every call, lost ones included.
  CallRunner(Clock& clock, Options options);
  ~CallRunner();  ///< stop()
  CallRunner(const CallRunner&) = delete;
  CallRunner& operator=(const CallRunner&) = delete;

  /// Runs `body` on a worker of its lane, in its turn; a call that a worker starts for the lane and queue of the one it
  /// is running follows that one at once, the first of them. `done` runs exactly once: on the worker after `body`
  /// returned, or on the watchdog's thread when the call was abandoned (call->end() has been called by then). An
  /// abandoned body's later return runs nothing. `body` and `done` own what they need (shared_ptr); they must not
  /// throw. `health` may be null.
  /// A call that is refused (its adapter is quarantined, too many threads are lost, its queue is full, the host stops)
  /// or that waits until its deadline, or for as long as its lane lets it, never runs its body: it ends as kAbandoned
  /// with nothing sent, on the watchdog's thread, stop()'s or, where its queue is full and after stop(), the caller's;
  /// call->failure() says why.
  /// RunsOn::kCaller: body, `done` and what follows in the same turn (CallTurn::on_borrowed) may run before this
  /// returns. A call that is given up meanwhile ends on the watchdog's thread as any other, while the caller's stays in
  /// it; whoever lends a thread so can do without it.
  void start(CallContextPtr call, std::shared_ptr<AdapterHealth> health, std::function<void()> body,
             std::function<void(End)> done, CallTurn turn = {}, RunsOn on = RunsOn::kWorker);

  /// start(), and waits. For operators' commands and tests; never from a worker or an event loop.
  End run(const CallContextPtr& call, std::shared_ptr<AdapterHealth> health, std::function<void()> body);

  /// Cancels what runs, waits for it as long as the grace lasts (in real time); threads that are lost for good are
  /// detached, and false is returned: they may still touch what was lent to them. Borrowed threads are waited for in
  /// the same way, until they have left. Later calls are refused. Idempotent. Not from one of its own threads.
  bool stop();

  int lost() const;
  std::size_t queued() const;  ///< in all lanes
  LaneFigures figures(Lane lane) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with the threads, lost ones included
};

}  // namespace krux
