#include "host/sandbox/confine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace krux {
namespace {

constexpr int kUnconfined = 4;  ///< exit code
constexpr int kNice = 5;
/// What is reserved and never written to: thread stacks, libraries and arenas.
[[maybe_unused]] constexpr std::int64_t kReservedMb = 2048;
constexpr int kMostArenas = 8;  ///< each reserves 64 MiB

class Steps {
 public:
  void check(bool done, const char* what) {
    if (!done) add(fmt::format("{} failed: {}.", what, std::strerror(errno)));
  }
  void add(std::string sentence) {
    if (!sentence.empty()) missing_.push_back(std::move(sentence));
  }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  std::vector<std::string> missing_;
};

void write_own(const char* file, std::string_view text) {
  const Descriptor at(open(file, O_WRONLY | O_CLOEXEC));
  if (at.get() < 0) return;
  [[maybe_unused]] const auto written = write(at.get(), text.data(), text.size());
}

/// The machine's last to be served and first to be killed. Not part of what keeps the host safe: a kernel may not have
/// it.
void step_back() {
  write_own("/proc/self/oom_score_adj", "1000");
  [[maybe_unused]] const auto now = nice(kNice);
  write_own("/proc/self/autogroup", fmt::format("{}", kNice));  // where it is in force, the line above counts little
}

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

/// One that is lower already stays.
bool limit(__rlimit_resource what, std::int64_t most) {
  rlimit value{};
  if (getrlimit(what, &value) != 0) return false;
  value.rlim_cur = value.rlim_max = std::min(value.rlim_max, static_cast<rlim_t>(most));
  return setrlimit(what, &value) == 0;
}

void limit_all(Steps& steps, const Confinement& wanted) {
  steps.check(limit(RLIMIT_CORE, 0), "RLIMIT_CORE");
  steps.check(limit(RLIMIT_FSIZE, 0), "RLIMIT_FSIZE");
  steps.check(limit(RLIMIT_NOFILE, wanted.open_files), "RLIMIT_NOFILE");
  // Signals that wait are counted for the whole user: an adapter must not take them all.
  steps.check(limit(RLIMIT_SIGPENDING, 64), "RLIMIT_SIGPENDING");
  if (wanted.processor_seconds > 0) steps.check(limit(RLIMIT_CPU, wanted.processor_seconds), "RLIMIT_CPU");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadow memory passes every limit
  mallopt(M_ARENA_MAX, kMostArenas);
  steps.check(limit(RLIMIT_DATA, wanted.memory_mb << 20), "RLIMIT_DATA");
  steps.check(limit(RLIMIT_AS, (wanted.memory_mb + kReservedMb) << 20), "RLIMIT_AS");
#endif
}

void give_up_privileges(Steps& steps, const Confinement& wanted, int socket) {
  step_back();
  steps.check(drop_capabilities(), "Dropping capabilities");
  steps.check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "PR_SET_PDEATHSIG");
  steps.check(prctl(PR_SET_DUMPABLE, 0) == 0, "PR_SET_DUMPABLE");
  steps.check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
  steps.check(syscall(SYS_close_range, static_cast<unsigned>(socket) + 1, ~0U, 0) == 0, "close_range()");
  limit_all(steps, wanted);
}

}  // namespace

std::vector<std::string> confine(const Confinement& wanted, const std::filesystem::path& directory, int socket) {
  Steps steps;
  give_up_privileges(steps, wanted, socket);
  steps.add(restrict_by_landlock(directory, wanted.landlock_abi));
  bool heard = false;
  {
    const Descriptor threads(ask_for_threads());
    heard = send_thread_listener(socket, threads.get());
  }
  steps.add(filter_system_calls(Filter::kLoading));
  if (!heard || !send_missing(socket, steps.missing())) _exit(kUnconfined);
  if (wanted.required && !steps.missing().empty()) _exit(kUnconfined);
  return steps.missing();
}

std::string confine_loaded() {
  return filter_system_calls(Filter::kLoaded);
}

}  // namespace krux
