#include "host/runner/runner_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/runner/remote_call.hpp"
#include "host/sandbox/confined_child.hpp"

namespace krux {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kReapPatience = milliseconds(1000);
constexpr int kMostStderrLines = 100;
constexpr std::size_t kLongestStderrLine = 1024;
constexpr auto kWatchEvery = milliseconds(1000);

std::string words_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("It crashed ({}).", strsignal(WTERMSIG(status)));
  return fmt::format("It ended itself (exit code {}).", WEXITSTATUS(status));
}

}  // namespace

RunnerProcess::~RunnerProcess() {
  if (stderr_ >= 0) close(stderr_);
}

void RunnerProcess::spawn() {
  auto child = start_confined(launch_.program, launch_.plugin, launch_.confinement);
  channel_ = std::make_unique<FrameChannel>(child.socket->release());
  stderr_ = child.errors->release();
  {
    const std::lock_guard lock(mutex_);
    pid_ = child.pid;
    if (!end_.words.empty() || end_.ordered) kill(pid_, SIGKILL);  // nobody wanted it any more
  }
  shown_pid_ = child.pid;
  open_channel_ = channel_.get();
}

void RunnerProcess::run(const std::function<void()>& on_serving, const std::function<void(const RunnerEnd&)>& on_end) {
  try {
    spawn();
    serve(on_serving);
  } catch (const BadFrame& e) {
    condemn(fmt::format("It sent what makes no sense and was killed: {}", e.what()), true);
  } catch (const std::exception& e) {
    const auto words = printable(e.what());
    condemn(fmt::format("It could not be run: {}{}", words, words.ends_with('.') ? "" : "."));
  }
  finish(on_end);
}

/// Before anything of the adapter runs. False: it has ended, or is about to.
bool RunnerProcess::confined(Time::time_point until) {
  auto report = receive_report(channel_->socket(), launch_.hello_timeout_ms);
  if (!report) {
    if (Time::now() >= until) condemn_slow();
    return false;
  }
  if (launch_.confinement.required && !report->missing.empty()) throw std::runtime_error(refusal_of(report->missing));
  for (const auto& part : report->missing) spdlog::warn("[{}] its process: {}", launch_.service, part);
  threads_.emplace(std::move(report->threads), shown_pid_);
  processor_.emplace(shown_pid_, launch_.idle_allowance);
  watch_.emplace(shown_pid_, launch_.confinement.memory_mb);
  watched_at_ = Time::now();
  return true;
}

void RunnerProcess::condemn_slow() {
  condemn(fmt::format("It did not load the adapter within {} s.", launch_.hello_timeout_ms / 1000));
}

void RunnerProcess::serve(const std::function<void()>& on_serving) {
  const auto until = Time::now() + milliseconds(launch_.hello_timeout_ms);
  if (!confined(until)) return;
  for (;;) {
    auto timeout = milliseconds(kWatchEvery);
    if (!said_hello_) {
      const auto left = std::chrono::ceil<milliseconds>(until - Time::now());
      if (left <= milliseconds(0)) return condemn_slow();
      timeout = std::min(timeout, left);
    }
    pollfd others[] = {{stderr_, POLLIN, 0}, {threads_->fd(), POLLIN, 0}};
    const bool open = channel_->pump(static_cast<int>(timeout.count()), others,
                                     [&](Frame frame) { on_frame(std::move(frame), on_serving); });
    if (others[0].revents != 0) read_stderr();
    threads_->serve(others[1].revents);
    if (!open) return;
    if (Time::now() - watched_at_ >= kWatchEvery) watch();
  }
}

void RunnerProcess::watch() {
  watched_at_ = Time::now();
  bool called = false;
  {
    const std::lock_guard lock(mutex_);
    called = std::exchange(called_, !calls_.empty());
  }
  if (processor_->exceeded(called)) {
    condemn(fmt::format(
        "It was killed, since its threads went on using the processor while no call was under way: more than "
        "{} s, and {} % of the time.",
        launch_.idle_allowance.at_once_ms / 1000, launch_.idle_allowance.percent));
  }
  if (const auto excess = watch_->excess(); !excess.empty()) condemn(fmt::format("It was killed, since {}.", excess));
  if (launch_.look_at_log) launch_.look_at_log();
}

void RunnerProcess::on_frame(Frame frame, const std::function<void()>& on_serving) {
  if (frame.kind < FrameKind::kHello) throw BadFrame("A frame goes the wrong way.");
  if ((frame.kind == FrameKind::kHello) == said_hello_) throw BadFrame("Its first word, and only that, is its hello.");
  switch (frame.kind) {
    case FrameKind::kHello:
      check_hello(frame);
      said_hello_ = true;
      return on_serving();
    case FrameKind::kLog:
      return log_line(frame);
    case FrameKind::kAskTime: {
      WireWriter out;
      out.i64(clock_.wall_ms());
      send(FrameKind::kTime, 0, frame.request, out.bytes());
      return;
    }
    default:
      return to_call(std::move(frame));
  }
}

void RunnerProcess::check_hello(const Frame& frame) {
  WireReader in(frame.payload);
  const auto version = in.u32();
  if (version != kWireVersion) {
    throw std::runtime_error(
        fmt::format("kruxos-plugin-runner is of another version ({} instead of {})", version, kWireVersion));
  }
  if (const auto problem = in.text(kLargestFrame); !problem.empty()) throw std::runtime_error(std::string(problem));
  const auto service = in.text(limits::kLongestName), prefix = in.text(limits::kLongestName);
  const auto plugin_version = in.text(limits::kLongestName), sha256 = in.text(limits::kLongestName);
  in.end();
  if (service != launch_.service || prefix != launch_.prefix || plugin_version != launch_.version ||
      sha256 != launch_.sha256) {
    throw std::runtime_error("its file is not the one that was examined when the host started; start the host again");
  }
}

void RunnerProcess::log_line(const Frame& frame) {
  WireReader in(frame.payload);
  const auto level = in.below(KRUX_LOG_ERROR + 1);
  const auto account = in.text(limits::kLongestId);
  const auto line = in.text(8 * limits::kLongestLogLine);
  in.end();
  launch_.log(level, launch_.service, std::string(account), printable(line));
}

void RunnerProcess::to_call(Frame frame) {
  std::shared_ptr<RemoteCall> call;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = calls_.find(frame.call); found != calls_.end()) call = found->second;
  }
  if (call) return call->deliver(std::move(frame));
  if (frame.call == 0 || frame.call >= next_id_) throw BadFrame("It speaks of a call that never was.");
  if (frame.kind != FrameKind::kRequest) return;  // it crossed with the call's end
  WireWriter out;
  put_answer(out, {KRUX_CANCELLED, "The call has ended.", std::nullopt, {}, {}});
  send(FrameKind::kAnswer, frame.call, frame.request, out.bytes());
}

/// False when there is nothing more for now.
bool RunnerProcess::read_stderr() {
  char part[4096];
  const auto got = ::read(stderr_, part, sizeof(part));
  if (got <= 0) {
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    close(stderr_);
    stderr_ = -1;
    return false;
  }
  for (const char c : std::string_view(part, static_cast<std::size_t>(got))) {
    if (c == '\n' || stderr_line_.size() >= kLongestStderrLine) log_stderr_line();
    if (c != '\n') stderr_line_ += c;
  }
  return true;
}

void RunnerProcess::log_stderr_line() {
  if (!stderr_line_.empty() && ++stderr_lines_ <= kMostStderrLines) {
    launch_.log(KRUX_LOG_WARN, launch_.service, "", printable(stderr_line_));
  }
  stderr_line_.clear();
}

bool RunnerProcess::send(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload) {
  auto* channel = open_channel_.load();
  return channel && channel->send(kind, call, request, payload);
}

bool RunnerProcess::add(const std::shared_ptr<RemoteCall>& call) {
  const std::lock_guard lock(mutex_);
  called_ = true;
  return !ended_ && calls_.emplace(call->id(), call).second;
}

void RunnerProcess::remove(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  calls_.erase(id);
}

void RunnerProcess::condemn(std::string why, bool garbage) {
  const std::lock_guard lock(mutex_);
  if (end_.words.empty()) {
    end_.words = std::move(why);
    end_.garbage = garbage;
  }
  if (pid_ > 0) kill(pid_, SIGKILL);
}

void RunnerProcess::ask_to_stop() {
  {
    const std::lock_guard lock(mutex_);
    end_.ordered = true;
  }
  send(FrameKind::kStop, 0, 0, {});
}

bool RunnerProcess::wait_ended(std::int64_t limit_ms) {
  std::unique_lock lock(mutex_);
  return ended_cv_.wait_for(lock, milliseconds(limit_ms), [&] { return ended_; });
}

bool RunnerProcess::try_reap() {
  const std::lock_guard lock(mutex_);
  if (pid_ <= 0) return true;
  const auto got = waitpid(pid_, &wait_status_, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  pid_ = -1;
  return true;
}

/// Its socket has ended, so that it has, or is about to; one that is not is killed.
void RunnerProcess::reap() {
  const auto until = Time::now() + kReapPatience;
  while (!try_reap()) {
    if (Time::now() > until) condemn("It closed its connection and was killed.");
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void RunnerProcess::finish(const std::function<void(const RunnerEnd&)>& on_end) {
  if (channel_) channel_->shut();
  const bool started = shown_pid_ > 0;
  reap();
  while (stderr_ >= 0 && read_stderr()) {
  }
  log_stderr_line();
  std::map<std::uint64_t, std::shared_ptr<RemoteCall>> calls;
  RunnerEnd end;
  {
    const std::lock_guard lock(mutex_);
    if (end_.words.empty()) end_.words = started ? words_of(wait_status_) : "It could not be started.";
    end = end_;
  }
  shown_pid_ = 0;
  on_end(end);
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    calls.swap(calls_);
    ended_cv_.notify_all();
  }
  for (const auto& [id, call] : calls) call->process_ended(end.words);
}

}  // namespace krux
