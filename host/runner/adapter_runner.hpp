// Keeps one service's adapter running in a process of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "core/adapter/call.hpp"
#include "core/util/clock.hpp"
#include "host/runner/runner_process.hpp"
#include "host/sandbox/helper_threads.hpp"

namespace krux {

/// Tells the operator. Any thread; must return soon, must not throw, and what it uses outlives the runners.
struct RunnerAlerts {
  std::function<void(const std::string& kind, const std::string& service, const std::string& message)> raise;
  std::function<void(const std::string& kind, const std::string& service)> settle;
};

struct RunnerStatus {
  enum class State { kNotStarted, kStarting, kServing, kWaiting, kStopped } state = State::kNotStarted;
  std::int64_t pid = 0;  ///< 0: there is no process
  std::uint64_t restarts = 0;
  std::string last_end;  ///< how the last one that the host did not end ended; empty when none did
};

const char* to_string(RunnerStatus::State state);

/// Started by the first call. When it ends by itself, calls are refused for 1 s, twice as long each time up to 60 s
/// (anew once one has run for a minute); the first call after that starts it again. Any thread.
class AdapterRunner {
 public:
  /// `clock` outlives every call.
  AdapterRunner(RunnerLaunch launch, Clock& clock, RunnerAlerts alerts, std::shared_ptr<HelperThreads> helpers);
  ~AdapterRunner();  ///< stop()
  AdapterRunner(const AdapterRunner&) = delete;
  AdapterRunner& operator=(const AdapterRunner&) = delete;

  /// A process that serves, waited for until the call's deadline where one starts; or why there is none, with certainly
  /// no effect. The call is noted as cut off then.
  std::variant<std::shared_ptr<RunnerProcess>, CallFailure> acquire(const CallContextPtr& call);

  /// A call came back from it. What the operator was told is settled once it has run for a minute.
  void returned();

  RunnerStatus status() const;
  const std::shared_ptr<HelperThreads>& helpers() const { return helpers_; }
  Clock& clock() const { return clock_; }
  const std::string& service() const { return launch_.service; }

  /// No call is taken any more, and the process is asked to end.
  void ask_to_stop();
  /// Ends the process, asked first, killed after `grace_ms` of real time. Idempotent; from one thread at a time.
  void stop(std::int64_t grace_ms);

 private:
  using State = RunnerStatus::State;
  void start_locked();
  void on_serving();
  void on_end(const RunnerEnd& end);
  void count_crash_locked(const RunnerEnd& end);

  const RunnerLaunch launch_;
  Clock& clock_;
  const RunnerAlerts alerts_;
  const std::shared_ptr<HelperThreads> helpers_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kNotStarted;
  std::shared_ptr<RunnerProcess> process_;
  std::thread thread_;  ///< of process_
  std::uint64_t starts_ = 0;
  int crashes_in_a_row_ = 0;
  std::int64_t serving_since_ms_ = 0, not_before_ms_ = 0;  ///< by boot_ms()
  std::deque<std::int64_t> crashes_ms_;                    ///< of the last ten minutes
  bool settled_ = false;                                   ///< in the life of this process
  std::string last_end_;
};

}  // namespace krux
