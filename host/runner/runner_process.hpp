// One life of a runner: the process, its socket, what it prints, and how it ended.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.hpp"
#include "host/plugins/abi_bridge/lent_host.hpp"
#include "host/runner/frame_channel.hpp"
#include "host/sandbox/confinement.hpp"
#include "host/sandbox/process_watch.hpp"

namespace krux {

class RemoteCall;

/// What a runner is started with, and what it must say of itself.
struct RunnerLaunch {
  std::filesystem::path program, plugin;
  std::string service, prefix, version, sha256;
  Confinement confinement;
  std::int64_t hello_timeout_ms = 10'000;  ///< real time: it bounds another process
  IdleAllowance idle_allowance{};
  AdapterLog log;
  std::function<void()> look_at_log;  ///< each second or so
};

struct RunnerEnd {
  std::string words;     ///< a sentence
  bool ordered = false;  ///< the host asked for it
  bool garbage = false;  ///< it sent what makes no sense
};

/// Any thread, but run().
class RunnerProcess : public std::enable_shared_from_this<RunnerProcess> {
 public:
  RunnerProcess(RunnerLaunch launch, const Clock& clock) : launch_(std::move(launch)), clock_(clock) {}
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  /// Starts the process, serves its socket, and returns when it has ended and was reaped. `on_serving` once the adapter
  /// is loaded, `on_end` before the calls in flight are told. The thread must be one that lives as long as the process:
  /// the kernel ends a runner with the thread that started it.
  void run(const std::function<void()>& on_serving, const std::function<void(const RunnerEnd&)>& on_end);

  bool send(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload);
  std::uint64_t new_id() { return next_id_++; }

  /// From here on the call gets the frames that name its id. False: the process has ended.
  bool add(const std::shared_ptr<RemoteCall>& call);
  void remove(std::uint64_t id);

  /// Kills it. The first reason counts.
  void condemn(std::string why, bool garbage = false);
  /// Asks it to end its adapters and itself.
  void ask_to_stop();
  /// In real time; false: it has not ended by then.
  bool wait_ended(std::int64_t limit_ms);

  pid_t pid() const { return shown_pid_; }

 private:
  void spawn();
  bool confined(std::chrono::steady_clock::time_point until);
  void condemn_slow();
  void serve(const std::function<void()>& on_serving);
  void watch();
  void on_frame(Frame frame, const std::function<void()>& on_serving);
  void check_hello(const Frame& frame);
  void log_line(const Frame& frame);
  void to_call(Frame frame);
  bool read_stderr();
  void log_stderr_line();
  void reap();
  bool try_reap();
  void finish(const std::function<void(const RunnerEnd&)>& on_end);

  const RunnerLaunch launch_;
  const Clock& clock_;
  std::unique_ptr<FrameChannel> channel_;  ///< set before on_serving, or never
  std::atomic<FrameChannel*> open_channel_{nullptr};
  int stderr_ = -1;
  std::string stderr_line_;
  int stderr_lines_ = 0;
  bool said_hello_ = false;
  std::optional<ThreadBudget> threads_;
  std::optional<IdleProcessor> processor_;
  std::optional<ProcessWatch> watch_;
  std::chrono::steady_clock::time_point watched_at_;

  mutable std::mutex mutex_;
  std::condition_variable ended_cv_;
  pid_t pid_ = -1;  ///< until it was reaped
  int wait_status_ = 0;
  std::atomic<pid_t> shown_pid_{0};
  bool ended_ = false;
  RunnerEnd end_;
  std::map<std::uint64_t, std::shared_ptr<RemoteCall>> calls_;
  bool called_ = false;  ///< since the last watch()
  std::atomic<std::uint64_t> next_id_{1};
};

}  // namespace krux
