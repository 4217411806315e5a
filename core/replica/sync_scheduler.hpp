// When which account is synced. Reads are served from what is there; syncs run behind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/util/clock.hpp"

namespace krux {

/// What people see of one account's sync.
struct SyncStatus {
  AccountRef account;
  enum class Phase { kIdle, kSyncing, kWaiting, kBackingOff, kRefused } phase = Phase::kIdle;
  bool full = false;                 ///< the pass under way (or next) is the first one, or a rebuild
  std::int64_t pass_started_ms = 0;  ///< 0: none since the host started
  std::int64_t next_ms = 0;          ///< wall time of the next step or pass; 0: now
  std::uint64_t parts_done = 0, parts_total = 0;
  std::uint64_t passes = 0, failures = 0;  ///< since it was added
  std::uint64_t failures_in_a_row = 0;
  std::string last_error;  ///< a sentence; empty when the last step went well
};

const char* to_string(SyncStatus::Phase phase);

/// Where steps run: no two of an account at a time, whoever asks for them.
CallTurn sync_turn(const AccountRef& account);

/// One thread that waits for what is due; steps run on the CallRunner, one at a time an account. Any thread may call.
class SyncScheduler {
 public:
  struct Options {
    std::int64_t step_timeout_ms = 300'000;
    std::int64_t first_backoff_ms = 5'000, last_backoff_ms = 300'000;
    /// Called when the service begins to refuse the account's token (a sentence), and when it takes it: for the first
    /// time since add(), and again after it was refused (empty).
    /// False: it is not settled yet, and is told again after the next step. May take its time, but must not call back
    /// into the scheduler.
    std::function<bool(const AccountRef&, const std::string& why)> attention;
    /// Called after a complete pass with the parts that want a person (KRUX_CONFLICT), each with its sentence: for the
    /// first time since add(), and when they are others than before. May take its time, but must not call back.
    std::function<void(const AccountRef&, const std::vector<std::string>& parts)> changed;
    /// Told of each pass that has ended, and of each step that failed (why). Must be quick, and not call back either.
    std::function<void(const SyncStatus&, const ErrorType& failure)> ended;
  };
  SyncScheduler(Clock& clock, CallRunner& runner, Options options);
  SyncScheduler(Clock& clock, CallRunner& runner) : SyncScheduler(clock, runner, Options{}) {}
  ~SyncScheduler();  ///< stop()
  SyncScheduler(const SyncScheduler&) = delete;
  SyncScheduler& operator=(const SyncScheduler&) = delete;

  /// The first pass starts at once, then one every `interval_ms`. Replaces an account of the same id.
  void add(ActiveAccountPtr account, std::int64_t interval_ms);
  /// Cancels its step and forgets it. On return no step of it will commit any more.
  void remove(const std::string& service, const std::string& account_id);
  /// Makes the next step of the service's accounts due now, back-off and waiting included; a token that is still
  /// refused is told again. False: it has no account.
  bool sync_now(const std::string& service);

  /// Has the account synced now, and waits until a pass that began after this call has ended well. Else a sentence: it
  /// failed, the account is synced no more, or `until_boot_ms` has come.
  std::string pass(const AccountRef& account, std::int64_t until_boot_ms);

  std::vector<SyncStatus> status() const;

  /// Cancels what runs and starts nothing more; what was committed stays. Options::attention is not called after it.
  void stop();

 private:
  struct Task;
  struct State;
  static void loop(const std::shared_ptr<State>& state);
  static void start_step(const std::shared_ptr<State>& state, const std::shared_ptr<Task>& task);
  static void finish_step(const std::shared_ptr<State>& state, const std::shared_ptr<Task>& task, bool abandoned);

  static void tell_attention(const State& state, Task& task, const CallFailure* failure);
  static void tell_changed(const State& state, Task& task);
  static void tell_ended(const State& state, const Task& task, bool full, const ErrorType& failure);
  static void note_progress(Task& task, const SyncStep& step);
  static void plan_next(State& state, Task& task, const SyncStep& step);
  static void plan_retry(State& state, Task& task, const CallFailure& failure);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace krux
