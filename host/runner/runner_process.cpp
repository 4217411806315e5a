#include "host/runner/runner_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/runner/remote_call.hpp"

extern char** environ;

namespace krux {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kRunnerSocket = 3;
constexpr auto kReapPatience = milliseconds(1000);
constexpr int kMostStderrLines = 100;
constexpr std::size_t kLongestStderrLine = 1024;
constexpr std::uint32_t kMostNotes = 16;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// posix_spawn's two lists, with what every runner needs in them.
class SpawnPlan {
 public:
  SpawnPlan(int socket, int stderr_end) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, stderr_end, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, kRunnerSocket);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A session of its own: what the operator's terminal sends to the host is the host's to pass on.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string words_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("It crashed ({}).", strsignal(WTERMSIG(status)));
  return fmt::format("It ended itself (exit code {}).", WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> environment_for_runner(const RunnerLimits& limits) {
  std::vector<std::string> out;
  for (char** at = environ; *at; ++at) {
    const std::string_view variable(*at);
    for (const auto name : {"LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS=", "TZ="}) {
      if (variable.starts_with(name)) out.emplace_back(variable);
    }
  }
#if defined(__SANITIZE_ADDRESS__)
  // Its shadow memory passes every limit that the kernel knows; it counts what is really used by itself.
  const auto at = std::find_if(out.begin(), out.end(), [](auto& text) { return text.starts_with("ASAN_OPTIONS="); });
  auto& options = at == out.end() ? out.emplace_back("ASAN_OPTIONS=") : *at;
  options += fmt::format(":hard_rss_limit_mb={}:detect_leaks=0", limits.memory_mb);
#else
  static_cast<void>(limits);
#endif
  return out;
}

RunnerProcess::~RunnerProcess() {
  if (stderr_ >= 0) close(stderr_);
}

void RunnerProcess::spawn() {
  int ends[2];
  int pipe_ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair");
  const Descriptor theirs(ends[1]);
  channel_ = std::make_unique<FrameChannel>(ends[0]);
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("pipe");
  stderr_ = pipe_ends[0];
  const Descriptor their_stderr(pipe_ends[1]);
  SpawnPlan plan(theirs.get(), their_stderr.get());
  std::vector<std::string> arguments{launch_.program.string(), launch_.plugin.string(),
                                     std::to_string(launch_.limits.memory_mb),
                                     std::to_string(launch_.limits.open_files)};
  auto environment = environment_for_runner(launch_.limits);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, launch_.program.c_str(), &plan.actions, &plan.attributes,
                                pointers(arguments).data(), pointers(environment).data());
  if (error != 0) throw std::system_error(error, std::generic_category(), launch_.program.string());
  {
    const std::lock_guard lock(mutex_);
    pid_ = pid;
    if (!end_.words.empty() || end_.ordered) kill(pid_, SIGKILL);  // nobody wanted it any more
  }
  shown_pid_ = pid;
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

void RunnerProcess::serve(const std::function<void()>& on_serving) {
  const auto until = Time::now() + milliseconds(launch_.hello_timeout_ms);
  for (;;) {
    int timeout = -1;
    if (!said_hello_) {
      const auto left = std::chrono::duration_cast<milliseconds>(until - Time::now()).count();
      if (left <= 0)
        return condemn(fmt::format("It did not load the adapter within {} s.", launch_.hello_timeout_ms / 1000));
      timeout = static_cast<int>(left);
    }
    bool printed = false;
    const bool open =
        channel_->pump(timeout, stderr_, printed, [&](Frame frame) { on_frame(std::move(frame), on_serving); });
    if (printed) read_stderr();
    if (!open) return;
  }
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
  const auto notes = in.count(kMostNotes);
  for (std::uint32_t i = 0; i < notes; ++i) {
    spdlog::warn("[{}] its process: {}", launch_.service, printable(in.text(kLongestStderrLine)));
  }
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
