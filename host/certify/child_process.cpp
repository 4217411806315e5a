#include "host/certify/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"

namespace krux::certify {
namespace {

constexpr std::size_t kLongestLine = 4 << 20;
constexpr std::size_t kLongestInput = 32 * 1024;  // fits into a pipe, so that nobody waits for anybody
constexpr std::int64_t kTermMs = 300;
constexpr std::size_t kLongestLog = 1 << 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Between fork and exec: nothing that allocates.
struct Launch {
  char* const* argv;
  const char* directory;  ///< nullptr: stay
  int in, out, log, report;
  pid_t parent;

  [[noreturn]] void run() const {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    bool ready = dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0;
    if (ready && directory) ready = chdir(directory) == 0;
    if (ready) execvp(argv[0], argv);
    const int reason = errno;
    _exit(::write(report, &reason, sizeof reason) == sizeof reason ? 127 : 126);
  }
};

}  // namespace

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string tail_of(const std::filesystem::path& log, std::size_t bytes) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::size_t>(in.tellg());
  in.seekg(static_cast<std::streamoff>(size > kLongestLog ? size - kLongestLog : 0));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto report = std::min(text.find("ERROR: "), text.find("runtime error: "));
  const auto from = report != std::string::npos ? report : text.size() > bytes ? text.size() - bytes : 0;
  return printable(std::string_view(text).substr(from, bytes));
}

ChildProcess::ChildProcess(const ChildCommand& command) {
  int in[2], out[2], report[2];
  if (command.input.size() > kLongestInput) throw std::system_error(E2BIG, std::generic_category(), command.argv[0]);
  if (pipe2(in, O_CLOEXEC) != 0) fail("pipe");
  const Descriptor in_read(in[0]), in_write(in[1]);
  if (pipe2(out, O_CLOEXEC) != 0) fail("pipe");
  Descriptor out_read(out[0]);
  const Descriptor out_write(out[1]);
  if (pipe2(report, O_CLOEXEC) != 0) fail("pipe");
  const Descriptor report_read(report[0]);
  Descriptor report_write(report[1]);
  const Descriptor log(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (log.get() < 0) fail(command.log.string());
  auto texts = command.argv;
  std::vector<char*> argv;
  for (auto& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  if (::write(in_write.get(), command.input.data(), command.input.size()) < 0) fail("write");
  const Launch launch{argv.data(),   command.directory.empty() ? nullptr : command.directory.c_str(),
                      in_read.get(), command.piped ? out_write.get() : log.get(),
                      log.get(),     report_write.get(),
                      getpid()};
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) launch.run();
  setpgid(pid_, pid_);  // whoever of both comes first
  ::close(report_write.release());
  int reason = 0;
  ssize_t told = 0;
  do told = ::read(report_read.get(), &reason, sizeof reason);
  while (told < 0 && errno == EINTR);
  if (told == sizeof reason) {
    reap(0);
    throw std::system_error(reason, std::generic_category(), command.argv[0]);
  }
  if (command.piped) out_ = out_read.release();
}

ChildProcess::~ChildProcess() {
  end();
  if (out_ >= 0) ::close(out_);
}

/// What it has started itself goes with it: its group, as long as its id is still its own.
bool ChildProcess::reap(int flags) {
  while (!gone_) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | flags) != 0) {
      if (errno == EINTR) continue;
      gone_ = true;
    } else if (info.si_pid == pid_) {
      kill(-pid_, SIGKILL);
      gone_ = waitpid(pid_, &status_, 0) == pid_;
    } else {
      break;
    }
  }
  return gone_;
}

bool ChildProcess::running() {
  return !reap(WNOHANG);
}

std::optional<std::string> ChildProcess::read_line(std::int64_t until_ms) {
  late_ = false;
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      auto line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    const auto left = until_ms - steady_ms();
    pollfd wait{out_, POLLIN, 0};
    const int ready = left <= 0 ? 0 : poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late_ = true;
      return std::nullopt;
    }
    char bytes[16384];
    const auto got = ::read(out_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || unread_.size() > kLongestLine) return std::nullopt;
    unread_.append(bytes, static_cast<std::size_t>(got));
  }
}

bool ChildProcess::ends_within(std::int64_t ms) {
  const auto until = steady_ms() + ms;
  while (!reap(WNOHANG) && steady_ms() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return gone_;
}

std::string ChildProcess::end_in_words() {
  if (!ends_within(1'000)) return "It still runs.";
  if (WIFSIGNALED(status_)) return fmt::format("It was ended by a signal: {}.", strsignal(WTERMSIG(status_)));
  return fmt::format("It ended with code {}.", WEXITSTATUS(status_));
}

void ChildProcess::end() {
  if (gone_) return;
  kill(pid_, SIGTERM);
  for (std::int64_t i = 0; i < kTermMs / 2; ++i) {
    if (reap(WNOHANG)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  kill(pid_, SIGKILL);
  reap(0);
}

}  // namespace krux::certify
