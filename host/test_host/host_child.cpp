#include "host/test_host/host_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/process/run_host.hpp"
#include "host/test_host/driven_time.hpp"

namespace krux {
namespace {

constexpr std::int64_t kBeginMs = 60'000, kAdvanceMs = 60'000, kStopMs = 10'000;

/// Its ends go when a program is executed.
std::array<int, 2> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return ends;
}

/// In the child: run_host() returns never, or before it has begun.
[[noreturn]] void serve(const HostChild::Start& start, int in, int out, int log) {
  ::setpgid(0, 0);  // Ctrl-C is for its parent, which ends it
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(log, STDERR_FILENO) < 0) _exit(1);
  std::vector<std::string> words{"kruxosd", "--config", start.config.string()};
  for (const auto& setting : start.settings) words.insert(words.end(), {"--set", setting});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int count = static_cast<int>(words.size());
  if (!start.driven) {
    SystemClock clock;
    _exit(run_host(count, argv.data(), clock));
  }
  DrivenClock clock(start.driven->wall_ms, start.driven->boot_ms);
  _exit(run_host(count, argv.data(), clock, [&clock] {
    // It reads until standard input ends, and is ended by the process's end.
    std::thread([&clock] { drive(clock, std::cin); }).detach();
  }));
}

std::string last_line(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last.empty() ? "it said nothing" : printable(last);
}

std::int64_t steady_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

HostChild::HostChild(const Start& start) : HostChild(start, open_pipe(), open_pipe()) {}

HostChild::HostChild(const Start& start, std::array<int, 2> in, std::array<int, 2> out) : in_(in[1]), out_(out[0]) {
  const Descriptor in_read(in[0]);
  Descriptor out_write(out[1]);
  const Descriptor log(::open(start.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (log.get() < 0)
    throw ConfigError(fmt::format("{} cannot be written: {}.", printable(start.log.string()), std::strerror(errno)));
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    ::close(in_.release());
    ::close(out_.release());
    serve(start, in_read.get(), out_write.get(), log.get());
  }
  ::close(out_write.release());
  ready_ = read_line(kBeginMs);
  if (!ready_.starts_with("ready ")) {
    kill();
    throw ConfigError(fmt::format("The host did not start: {}", last_line(start.log)));
  }
}

HostChild::~HostChild() {
  kill();
}

/// Empty: it has ended, or said nothing within that time.
std::string HostChild::read_line(std::int64_t limit_ms) {
  const auto until = steady_ms() + limit_ms;
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      auto line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    const auto left = until - steady_ms();
    pollfd wait{out_.get(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    char bytes[4096];
    const auto got = ::read(out_.get(), bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    unread_.append(bytes, static_cast<std::size_t>(got));
  }
}

ClockTimes HostChild::advance(std::int64_t ms) {
  const auto line = fmt::format("advance {}\n", ms);
  ClockTimes times;
  std::string word;
  if (::write(in_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    std::istringstream answer(read_line(kAdvanceMs));
    if (answer >> word >> times.wall_ms >> times.boot_ms && word == "clock") return times;
  }
  throw std::runtime_error("The host's clock was not moved: the host has ended, or hangs. Its log says more.");
}

bool HostChild::reap(int flags) {
  if (!gone_ && pid_ > 0) gone_ = ::waitpid(pid_, &status_, flags) == pid_;
  return gone_;
}

bool HostChild::running() {
  return !reap(WNOHANG);
}

std::string HostChild::end_in_words() const {
  if (WIFSIGNALED(status_)) return fmt::format("It was ended by a signal: {}.", strsignal(WTERMSIG(status_)));
  return fmt::format("It ended with code {}.", WEXITSTATUS(status_));
}

void HostChild::stop() {
  if (gone_) return;
  ::kill(pid_, SIGTERM);
  for (const auto until = steady_ms() + kStopMs; !reap(WNOHANG) && steady_ms() < until;)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill();
}

void HostChild::kill() {
  if (gone_ || pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  reap(0);
}

}  // namespace krux
