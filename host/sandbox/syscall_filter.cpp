// The filter of system calls: a list of what is allowed (allowed_calls.hpp), some of it by its arguments. What is not
// listed is refused, calls of later kernels among it.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "host/sandbox/allowed_calls.hpp"
#include "host/sandbox/confine.hpp"

namespace krux {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// From here on all processors number their calls alike (Linux 5.1), and C libraries try them first and fall back: a
/// refusal must look like a kernel that does not have the call. What is older is refused as what it is.
constexpr std::uint32_t kFirstCommonCall = 424;

/// Signals to this process alone: their first argument is its number.
constexpr std::array kOwnProcess = {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};

constexpr std::array kLookedAt = {SYS_fcntl, SYS_ioctl,     SYS_prctl,   SYS_mmap,
                                  SYS_clone, SYS_prlimit64, SYS_seccomp, SYS_openat,
#if defined(__x86_64__)
                                  SYS_open
#endif
};

constexpr std::uint32_t kChangesFiles = O_ACCMODE | O_CREAT | O_TRUNC;

constexpr std::uint32_t low_word(int argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * argument);
}
constexpr std::uint32_t high_word(int argument) {
  return low_word(argument) + sizeof(std::uint32_t);
}

/// Both architectures are little-endian.
class Program {
 public:
  Program() {
    load(offsetof(seccomp_data, arch));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    give(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));  // x32: the same calls by other numbers
    refuse(ENOSYS);
#endif
  }

  sock_fprog whole() {
    return {static_cast<unsigned short>(code_.size()), code_.data()};
  }

  void load(std::uint32_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
  }
  void give(std::uint32_t what) {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, what));
  }
  void allow() {
    give(SECCOMP_RET_ALLOW);
  }
  void refuse(std::uint32_t error) {
    give(SECCOMP_RET_ERRNO | error);
  }

  /// `then` stands behind a test whether the loaded word passes, and ends the program.
  template <class Then>
  void when(std::uint16_t test, std::uint32_t value, Then&& then) {
    const auto at = code_.size();
    code_.push_back({});
    then();
    code_[at] = BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, 0,
                         static_cast<std::uint8_t>(code_.size() - at - 1));
  }
  template <class Then>
  void on_call(long call, Then&& then) {
    when(BPF_JEQ, static_cast<std::uint32_t>(call), then);
  }
  /// What follows looks at these bits of the loaded word alone.
  void mask(std::uint32_t bits) {
    code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
  }
  void allow_call(long call) {
    on_call(call, [this] { allow(); });
  }
  /// Where `word` of the call's arguments is one of `values`.
  void allow_values(long call, std::uint32_t word, std::initializer_list<std::uint32_t> values) {
    on_call(call, [&] {
      load(word);
      for (const auto value : values) {
        when(BPF_JEQ, value, [this] { allow(); });
      }
      refuse(EPERM);
    });
  }

 private:
  std::vector<sock_filter> code_;
};

/// Descriptors may be copied and made to block or not. Not: who gets a signal for one, leases, locks, a pipe's size.
void allow_fcntl(Program& program) {
  program.on_call(SYS_fcntl, [&] {
    program.load(low_word(1));
    program.when(BPF_JEQ, F_SETFL, [&] {
      program.load(low_word(2));
      program.when(BPF_JSET, O_ASYNC, [&] { program.refuse(EPERM); });
      program.allow();
    });
    for (const std::uint32_t command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL}) {
      program.when(BPF_JEQ, command, [&] { program.allow(); });
    }
    program.refuse(EPERM);
  });
}

/// Memory that is its own is counted against its limits. Memory that could be shared is not, nor is a stack that grows;
/// huge pages come from everybody's store.
void allow_mmap(Program& program) {
  constexpr std::uint32_t uncounted = MAP_GROWSDOWN | MAP_HUGETLB;
  program.on_call(SYS_mmap, [&] {
    program.load(low_word(3));
    program.when(BPF_JSET, uncounted, [&] { program.refuse(EPERM); });
    program.when(BPF_JSET, MAP_SHARED, [&] {  // MAP_SHARED_VALIDATE has the bit as well
      program.when(BPF_JSET, MAP_ANONYMOUS, [&] { program.refuse(EPERM); });
      program.allow();
    });
    program.allow();
  });
}

/// What C libraries make a thread with: one that shared less would have descriptors that are counted apart.
constexpr std::uint32_t kWholeThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
/// What they may add: where its number is kept, and where its storage is. musl still names CLONE_DETACHED.
constexpr std::uint32_t kThreadDetails =
    CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED;

/// A thread of this process, and never another process, a namespace or a descriptor. clone3() keeps its flags where a
/// filter does not see them; it is not listed, and C libraries use clone() then.
void allow_clone(Program& program) {
  program.on_call(SYS_clone, [&] {
    program.load(low_word(0));
    program.mask(~kThreadDetails);
    program.when(BPF_JEQ, kWholeThread, [&] { program.allow(); });
    program.refuse(EPERM);
  });
}

/// To read a limit, and not to change one.
void allow_prlimit(Program& program) {
  program.on_call(SYS_prlimit64, [&] {
    program.load(low_word(2));
    program.when(BPF_JEQ, 0, [&] {
      program.load(high_word(2));
      program.when(BPF_JEQ, 0, [&] { program.allow(); });
      program.refuse(EPERM);
    });
    program.refuse(EPERM);
  });
}

/// One more filter, which can only take away: the second one of ours.
void allow_filters(Program& program) {
  program.on_call(SYS_seccomp, [&] {
    program.load(low_word(0));
    program.when(BPF_JEQ, SECCOMP_SET_MODE_FILTER, [&] {
      program.load(low_word(1));
      program.when(BPF_JEQ, SECCOMP_FILTER_FLAG_TSYNC, [&] { program.allow(); });
      program.refuse(EPERM);
    });
    program.refuse(EPERM);
  });
}

/// Bytes in their order. What is sent out of band raises a signal at the other end, and takes a way through the kernel
/// that little else uses.
void allow_bytes(Program& program, long call) {
  program.on_call(call, [&] {
    program.load(low_word(3));
    program.when(BPF_JSET, MSG_OOB, [&] { program.refuse(EPERM); });
    program.allow();
  });
}

void allow_reading(Program& program, long call, int flags) {
  program.on_call(call, [&] {
    program.load(low_word(flags));
    program.when(BPF_JSET, kChangesFiles, [&] { program.refuse(EACCES); });
    program.allow();
  });
}

Program loading() {
  Program program;
  for (const auto call : kAllowedCalls) program.allow_call(call);
  for (const auto call : kAllowedWhileLoading) program.allow_call(call);
  const auto self = static_cast<std::uint32_t>(getpid());
  for (const auto call : kOwnProcess) program.allow_values(call, low_word(0), {self});
  program.allow_values(SYS_close_range, low_word(2),
                       {0, CLOSE_RANGE_CLOEXEC});  // not: a table of descriptors of its own
  program.allow_values(SYS_ioctl, low_word(1), {FIONBIO, FIOCLEX, FIONCLEX, FIONREAD, TCGETS});
  program.allow_values(SYS_prctl, low_word(0), {PR_SET_NAME, PR_GET_NAME});
  for (const auto call : {SYS_sendto, SYS_recvfrom}) allow_bytes(program, call);
  allow_fcntl(program);
  allow_mmap(program);
  allow_clone(program);
  allow_prlimit(program);
  allow_filters(program);
  allow_reading(program, SYS_openat, 2);
#if defined(__x86_64__)
  allow_reading(program, SYS_open, 1);
#endif
  program.when(BPF_JGE, kFirstCommonCall, [&] { program.refuse(ENOSYS); });
  program.refuse(EPERM);
  return program;
}

Program loaded() {
  Program program;
  for (const auto call : {
         SYS_openat, SYS_readlinkat,
#if defined(__x86_64__)
             SYS_open, SYS_readlink
#endif
       }) {
    program.on_call(call, [&] { program.refuse(EACCES); });
  }
  program.on_call(SYS_seccomp, [&] { program.refuse(EPERM); });
  program.allow();
  return program;
}

long install(Program program, unsigned flags) {
  auto whole = program.whole();
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole);
}

}  // namespace

std::string filter_system_calls(Filter filter) {
  if (kArchitecture == 0) return "There is no filter of system calls for this processor.";
  if (install(filter == Filter::kLoading ? loading() : loaded(), SECCOMP_FILTER_FLAG_TSYNC) == 0) return {};
  return fmt::format(
      "The kernel takes no filter of system calls ({}), so that the adapter's code can use the network "
      "and the host's files.",
      std::strerror(errno));
}

int ask_for_threads() {
  if (kArchitecture == 0) return -1;
  Program program;
  program.on_call(SYS_clone, [&] { program.give(SECCOMP_RET_USER_NOTIF); });
  program.allow();
  return static_cast<int>(install(std::move(program), SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
                                                          SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

bool is_listed(long call) {
  const auto in = [call](const auto& list) { return std::find(list.begin(), list.end(), call) != list.end(); };
  return in(kAllowedCalls) || in(kAllowedWhileLoading) || in(kOwnProcess) || in(kLookedAt);
}

}  // namespace krux
