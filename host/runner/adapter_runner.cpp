#include "host/runner/adapter_runner.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>

#include "core/util/log.hpp"

namespace krux {
namespace {

constexpr std::int64_t kFirstBackoffMs = 1'000, kLongestBackoffMs = 60'000, kGoodTimeMs = 60'000;
constexpr std::size_t kCrashesToTell = 3;
constexpr std::int64_t kCrashesWithinMs = 600'000;
constexpr const char* kCrashing = "adapter_crashing";
constexpr const char* kGarbage = "adapter_garbage";

CallFailure refused(const CallContextPtr& call, std::string message, std::optional<std::int64_t> retry_after_ms = {}) {
  call->note_cut_off();
  return {KRUX_UNAVAILABLE, true, {}, std::move(message), retry_after_ms};
}

}  // namespace

const char* to_string(RunnerStatus::State state) {
  switch (state) {
    case RunnerStatus::State::kNotStarted:
      return "not started";
    case RunnerStatus::State::kStarting:
      return "starting";
    case RunnerStatus::State::kServing:
      return "running";
    case RunnerStatus::State::kWaiting:
      return "waiting";
    case RunnerStatus::State::kStopped:
      break;
  }
  return "stopped";
}

AdapterRunner::AdapterRunner(RunnerLaunch launch, Clock& clock, RunnerAlerts alerts,
                             std::shared_ptr<HelperThreads> helpers)
    : launch_(std::move(launch)), clock_(clock), alerts_(std::move(alerts)), helpers_(std::move(helpers)) {}

AdapterRunner::~AdapterRunner() {
  stop(0);
}

std::variant<std::shared_ptr<RunnerProcess>, CallFailure> AdapterRunner::acquire(const CallContextPtr& call) {
  const auto token = call->on_cancel([this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  struct Drop {
    const CallContextPtr& call;
    std::uint64_t token;
    ~Drop() { call->drop_on_cancel(token); }
  } const drop{call, token};
  std::unique_lock lock(mutex_);
  for (;;) {
    if (state_ == State::kStopped) return refused(call, "The host is stopping; try again when it runs again.");
    if (state_ == State::kServing) return process_;
    if (state_ != State::kStarting) {
      if (const auto left = not_before_ms_ - clock_.boot_ms(); left > 0) {
        return refused(call,
                       fmt::format("The adapter of {} is started again in {} s; its process had ended: {}",
                                   launch_.service, (left + 999) / 1000, last_end_),
                       left);
      }
      start_locked();
    }
    clock_.wait_until(lock, changed_, call->deadline_boot_ms(),
                      [&] { return state_ != State::kStarting || call->cancelled(); });
    if (state_ == State::kStarting) return refused(call, "The adapter's process was still starting.");
  }
}

void AdapterRunner::start_locked() {
  if (thread_.joinable()) thread_.join();  // it has told its end, and does nothing more
  state_ = State::kStarting;
  settled_ = false;
  ++starts_;
  process_ = std::make_shared<RunnerProcess>(launch_, clock_);
  try {
    thread_ = std::thread([this, process = process_] {
      process->run([this] { on_serving(); }, [this](const RunnerEnd& end) { on_end(end); });
    });
  } catch (const std::system_error&) {
    count_crash_locked({"There was no thread left to start it with.", false, false});
  }
}

void AdapterRunner::on_serving() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kStarting) return;
  state_ = State::kServing;
  serving_since_ms_ = clock_.boot_ms();
  spdlog::info("adapter {} {} runs in process {}", launch_.service, launch_.version, process_->pid());
  changed_.notify_all();
}

void AdapterRunner::on_end(const RunnerEnd& end) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kStopped || end.ordered) return;
  count_crash_locked(end);
}

void AdapterRunner::count_crash_locked(const RunnerEnd& end) {
  const auto now = clock_.boot_ms();
  if (state_ == State::kServing && now - serving_since_ms_ >= kGoodTimeMs) crashes_in_a_row_ = 0;
  const auto backoff = std::min(kLongestBackoffMs, kFirstBackoffMs << std::min(crashes_in_a_row_, 10));
  ++crashes_in_a_row_;
  not_before_ms_ = now + backoff;
  state_ = State::kWaiting;
  last_end_ = end.words;
  log_event(spdlog::level::err, {"adapter_process_ended", launch_.service, "", "", ""},
            fmt::format("the process of the adapter of {} has ended: {} It may be started again in {} s.",
                        launch_.service, end.words, backoff / 1000));
  if (end.garbage && alerts_.raise) {
    alerts_.raise(kGarbage, launch_.service,
                  fmt::format("The adapter of {} sent the host what makes no sense, and its process was ended: {} Ask "
                              "its author for a fixed one, or remove it.",
                              launch_.service, end.words));
  }
  crashes_ms_.push_back(now);
  while (crashes_ms_.front() < now - kCrashesWithinMs) crashes_ms_.pop_front();
  if (crashes_ms_.size() >= kCrashesToTell && alerts_.raise) {
    alerts_.raise(
        kCrashing, launch_.service,
        fmt::format("The process of the adapter of {} ended {} times within ten minutes; the last time: {} It "
                    "is started again each time, and calls fail meanwhile. Ask its author for a fixed one.",
                    launch_.service, crashes_ms_.size(), end.words));
  }
  changed_.notify_all();
}

void AdapterRunner::returned() {
  const std::lock_guard lock(mutex_);
  if (settled_ || state_ != State::kServing || clock_.boot_ms() - serving_since_ms_ < kGoodTimeMs) return;
  settled_ = true;
  crashes_ms_.clear();
  if (!alerts_.settle) return;
  for (const char* kind : {kCrashing, kGarbage}) alerts_.settle(kind, launch_.service);
}

RunnerStatus AdapterRunner::status() const {
  const std::lock_guard lock(mutex_);
  RunnerStatus status;
  status.state = state_;
  const bool there = state_ == State::kServing || state_ == State::kStarting;
  status.pid = there && process_ ? process_->pid() : 0;
  status.restarts = starts_ > 0 ? starts_ - 1 : 0;
  status.last_end = last_end_;
  return status;
}

void AdapterRunner::ask_to_stop() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kStopped) return;
  state_ = State::kStopped;
  changed_.notify_all();
  if (process_) process_->ask_to_stop();
}

void AdapterRunner::stop(std::int64_t grace_ms) {
  ask_to_stop();
  // Nobody starts another one any more.
  if (process_ && !process_->wait_ended(grace_ms)) process_->condemn("The host stopped.");
  if (thread_.joinable()) thread_.join();
}

}  // namespace krux
