#include "sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/text.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace process {
namespace {

using workspace::Descriptor;

constexpr int kFilesFd = 3;
constexpr int kProbeMs = 10'000;
constexpr const char* kMemoryDisk = "67108864";  ///< bytes of /tmp, and of /dev/shm

kruxos::ProxyError not_started(const std::string& what, int error) {
  return kruxos::ProxyError(kruxos::ErrorKind::kUnavailable, what + ": " + std::strerror(error) + ".").no_effect();
}

void append(std::vector<std::string>& all, std::initializer_list<const char*> more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::string mib(std::int64_t count) {
  return std::to_string(count << 20);
}

std::vector<std::string> confined(const Options& options, const Command& command) {
  std::vector<std::string> all{options.sandbox};
  append(all, {"--unshare-user",
               "--unshare-ipc",
               "--unshare-pid",
               "--unshare-net",
               "--unshare-uts",
               "--unshare-cgroup-try",
               "--die-with-parent",
               "--new-session",
               "--cap-drop",
               "ALL",
               "--disable-userns",
               "--hostname",
               "workspace",
               "--clearenv",
               "--setenv",
               "PATH",
               "/usr/local/bin:/usr/bin:/bin",
               "--setenv",
               "HOME",
               "/workspace",
               "--setenv",
               "LANG",
               "C.UTF-8",
               "--setenv",
               "TMPDIR",
               "/tmp"});
  append(all, {"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try",
               "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/localtime", "/etc/localtime"});
  for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const auto at = std::string("/") + name;
    std::array<char, 256> target{};
    // Where these are links into /usr, as in Debian 12; directories of their own elsewhere.
    if (readlink(at.c_str(), target.data(), target.size() - 1) > 0) {
      all.insert(all.end(), {"--symlink", target.data(), at});
    } else {
      all.insert(all.end(), {"--ro-bind-try", at, at});
    }
  }
  append(all, {"--proc", "/proc", "--dev", "/dev", "--size", kMemoryDisk, "--tmpfs", "/tmp"});
  append(all, {"--size", kMemoryDisk, "--perms", "1777", "--tmpfs", "/dev/shm"});
  all.insert(all.end(), {"--bind-fd", std::to_string(kFilesFd), "/workspace"});
  // Both are memory without a bound otherwise.
  append(all, {"--remount-ro", "/dev", "--remount-ro", "/"});
  all.insert(all.end(), {"--chdir", command.directory, "--"});
  // Where the machine is busy or out of memory, the programs stand back for the host.
  append(all, {"/usr/bin/nice", "-n", "5", "/usr/bin/choom", "-n", "1000", "--"});
  all.insert(all.end(), {"/usr/bin/prlimit", "--core=0", "--nofile=256", "--nproc=" + std::to_string(options.processes),
                         "--fsize=" + mib(options.file_mib), "--data=" + mib(options.memory_mib), "--"});
  all.insert(all.end(), command.words.begin(), command.words.end());
  return all;
}

struct Pipe {
  Descriptor read, write;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw not_started("No pipe could be made", errno);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    (void)fcntl(read.get(), F_SETFL, O_NONBLOCK);
  }
};

/// At its beginning, so that it is read from there.
Descriptor input_of(const std::string& text) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (!file) throw not_started("Memory for the input could not be had", errno);
  for (std::size_t at = 0; at < text.size();) {
    const auto put = write(file.get(), text.data() + at, text.size() - at);
    if (put < 0 && errno != EINTR) throw not_started("The input could not be kept", errno);
    at += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
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

  pid_t run(std::vector<std::string> words, int input, int out, int errors, int files) {
    // A descriptor that stands where another one is to go would be lost.
    const Descriptor moved[] = {above(input), above(out), above(errors), above(files)};
    for (int i = 0; i < 4; ++i) posix_spawn_file_actions_adddup2(&actions_, moved[i].get(), i);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kFilesFd + 1);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char* environment[] = {path, nullptr};
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, pointers[0], &actions_, &attributes_, pointers.data(), environment);
    if (error == ENOENT)
      throw kruxos::ProxyError(kruxos::ErrorKind::kRefused,
                               "Programs cannot be confined here: bubblewrap is not installed. The operator installs "
                               "the package bubblewrap.")
          .type("SandboxMissing")
          .no_effect();
    if (error != 0) throw not_started("The program could not be started", error);
    return pid;
  }

 private:
  static Descriptor above(int fd) { return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 10)); }
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Started start(const Options& options, int files, const Command& command) {
  Pipe out, errors;
  const auto input = input_of(command.input);
  Started started;
  started.pid = Spawn().run(confined(options, command), input.get(), out.write.get(), errors.write.get(), files);
  started.ended = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, started.pid, 0)));
  if (!started.ended) {
    const int error = errno;
    kill(started.pid, SIGKILL);
    waitpid(started.pid, nullptr, 0);
    throw not_started("The program could not be watched, and was ended", error);
  }
  started.out = std::move(out.read);
  started.errors = std::move(errors.read);
  return started;
}

std::string why_no_sandbox(const Options& options, int files) {
  const auto trial = start(options, files, {{"/usr/bin/true"}});
  pollfd ended{trial.ended.get(), POLLIN, 0};
  if (poll(&ended, 1, kProbeMs) != 1) kill(trial.pid, SIGKILL);
  int status = 0;
  while (waitpid(trial.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::array<char, 1000> said{};
  const auto length = read(trial.errors.get(), said.data(), said.size());
  const std::string_view words(said.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return "Programs cannot be confined on this machine, so that none is run. The sandbox says: " +
         kruxos::kit::clean_line(words.substr(0, words.find('\n')));
}

}  // namespace process
