#include "start.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "system_calls.hpp"

namespace confined {
namespace {

constexpr int kHomeFd = 3;
constexpr int kProbeMs = 10'000;

kruxos::ProxyError not_started(const std::string& what, int error) {
  return kruxos::ProxyError(kruxos::ErrorKind::kUnavailable, what + ": " + std::strerror(error) + ".").no_effect();
}

/// Its descriptors are these and no others; its signals are as at a login.
class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  /// The descriptors become 0, 1, 2 and so on.
  pid_t run(std::vector<std::string> words, const std::vector<int>& descriptors) {
    // A descriptor that stands where another one is to go would be lost.
    std::vector<Descriptor> moved;
    for (const int one : descriptors) moved.emplace_back(fcntl(one, F_DUPFD_CLOEXEC, 10));
    int count = 0;
    for (const auto& one : moved) posix_spawn_file_actions_adddup2(&actions_, one.get(), count++);
    posix_spawn_file_actions_addclosefrom_np(&actions_, count);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char* environment[] = {path, nullptr};
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, pointers[0], &actions_, &attributes_, pointers.data(), environment);
    if (error == ENOENT)
      throw sandbox_missing(
          "Programs cannot be confined here: bubblewrap is not installed. The operator installs the package "
          "bubblewrap.");
    if (error != 0) throw not_started("The program could not be started", error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

kruxos::ProxyError sandbox_missing(const std::string& sentence) {
  return kruxos::ProxyError(kruxos::ErrorKind::kRefused, sentence).type("SandboxMissing").no_effect();
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw not_started("No pipe could be made", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void never_wait_for(const Descriptor& end) {
  (void)fcntl(end.get(), F_SETFL, O_NONBLOCK);
}

Started start(const Confinement& confinement, int input, std::string_view working_directory,
              const std::vector<std::string>& words) {
  static_assert(kHomeFd == STDERR_FILENO + 1);
  auto out = make_pipe(), errors = make_pipe();
  std::vector<int> descriptors{input, out.write.get(), errors.write.get()};
  if (confinement.directory >= 0) descriptors.push_back(confinement.directory);
  const auto filter = call_filter();
  descriptors.push_back(filter.get());
  Started started;
  started.pid = Spawn().run(words_for(confinement, working_directory, words), descriptors);
  started.ended = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, started.pid, 0)));
  if (!started.ended) {
    const int error = errno;
    kill(started.pid, SIGKILL);
    waitpid(started.pid, nullptr, 0);
    throw not_started("The program could not be watched, and was ended", error);
  }
  started.out = std::move(out.read);
  started.errors = std::move(errors.read);
  never_wait_for(started.out);
  never_wait_for(started.errors);
  return started;
}

int exit_code_of(pid_t pid) {
  int status = 0;
  const auto ended = waitpid(pid, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return -1;
  return code_of(status);
}

std::string why_no_sandbox(const Confinement& confinement) {
  auto plain = confinement;
  plain.readable.clear();
  plain.environment_file.clear();
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto trial = start(plain, nothing.get(), kHome, {"/usr/bin/true"});
  pollfd ended{trial.ended.get(), POLLIN, 0};
  if (poll(&ended, 1, kProbeMs) != 1) kill(trial.pid, SIGKILL);
  int status = 0;
  while (waitpid(trial.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (code_of(status) == 0) return {};
  std::array<char, 1000> said{};
  const auto length = read(trial.errors.get(), said.data(), said.size());
  const std::string_view text(said.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return "Programs cannot be confined on this machine, so that none is run. The sandbox says: " +
         kruxos::kit::clean_line(text.substr(0, text.find('\n')));
}

void refuse_root(bool allowed, std::string_view key) {
  if (allowed || geteuid() != 0) return;
  throw sandbox_missing(
      "The host runs as root, and the kernel limits no number of root's programs, so that none is run. The operator "
      "runs the host as a user of its own, or sets " +
      std::string(key) + ".");
}

}  // namespace confined
