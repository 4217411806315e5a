// The filter of system calls. A list of what is refused, since what a C++ runtime or a sanitizer needs differs from one
// to the next; what is refused answers with EPERM, EACCES or ENOSYS, as a kernel that does not have it would.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "host/runner/program/confine.hpp"

namespace krux {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// Connections, other programs, other processes, other rights, and everything that changes a file.
constexpr std::array kRefused = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_execve,
    SYS_execveat,
    SYS_unshare,
    SYS_setns,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_kcmp,
    SYS_tkill,
    SYS_setpriority,
    SYS_sched_setaffinity,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_ioprio_set,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_capset,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setsid,
    SYS_setpgid,
    SYS_personality,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fspick,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_fanotify_init,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_shmget,
    SYS_shmat,
    SYS_semget,
    SYS_msgget,
    SYS_mq_open,
    SYS_truncate,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_fchmod,
    SYS_fchown,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_creat,
    SYS_unlink,
    SYS_rename,
    SYS_renameat,
    SYS_link,
    SYS_symlink,
    SYS_mkdir,
    SYS_rmdir,
    SYS_mknod,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_iopl,
    SYS_ioperm,
    SYS_uselib,
    SYS_kexec_file_load,
#endif
};

constexpr std::array kUnknown = {SYS_clone3, SYS_openat2};  // their flags lie in memory, which a filter does not see

/// Signals and limits: for this process alone.
constexpr std::array kOwnProcess = {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};

constexpr std::uint32_t low_word(int argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * argument);
}

class Program {
 public:
  explicit Program(Filter filter) {
    load(offsetof(seccomp_data, arch));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    give(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));  // x32: the same calls by other numbers
    give(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    for (const auto call : kRefused) refuse(call, EPERM);
    for (const auto call : kUnknown) refuse(call, ENOSYS);
    const auto self = static_cast<std::uint32_t>(getpid());
    for (const auto call : kOwnProcess) argument(call, 0, BPF_JEQ, self, true, EPERM);
    argument(SYS_clone, 0, BPF_JSET, CLONE_THREAD, true, EPERM);
    other_process(self);
    opening(filter);
    give(SECCOMP_RET_ALLOW);
  }

  sock_fprog whole() {
    return {static_cast<unsigned short>(code_.size()), code_.data()};
  }

 private:
  void load(std::uint32_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
  }
  void give(std::uint32_t what) {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, what));
  }

  void refuse(long call, std::uint32_t error) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    give(SECCOMP_RET_ERRNO | error);
  }

  /// Refuses the call unless (`allow_when`) or when its argument passes the test.
  void argument(long call, int index, std::uint16_t test, std::uint32_t value, bool allow_when, std::uint32_t error) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
    load(low_word(index));
    const auto pass = static_cast<std::uint8_t>(allow_when ? 1 : 0),
               fail = static_cast<std::uint8_t>(allow_when ? 0 : 1);
    code_.push_back(BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, pass, fail));
    give(SECCOMP_RET_ERRNO | error);
    give(SECCOMP_RET_ALLOW);
  }

  /// prlimit64 of nobody else.
  void other_process(std::uint32_t self) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 5));
    load(low_word(0));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 1, 0));
    give(SECCOMP_RET_ERRNO | EPERM);
    give(SECCOMP_RET_ALLOW);
  }

  void opening(Filter filter) {
    constexpr std::uint32_t changes = O_ACCMODE | O_CREAT | O_TRUNC;
    if (filter == Filter::kLoading) {
      argument(SYS_openat, 2, BPF_JSET, changes, false, EACCES);
    } else {
      refuse(SYS_openat, EACCES);
    }
#if defined(__x86_64__)
    if (filter == Filter::kLoading) {
      argument(SYS_open, 1, BPF_JSET, changes, false, EACCES);
    } else {
      refuse(SYS_open, EACCES);
    }
#endif
  }

  std::vector<sock_filter> code_;
};

}  // namespace

std::string filter_system_calls(Filter filter) {
  if (kArchitecture == 0) return "There is no filter of system calls for this processor.";
  Program program(filter);
  auto whole = program.whole();
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) == 0) return {};
  return fmt::format(
      "The kernel takes no filter of system calls ({}), so that the adapter's code can use the network "
      "and the host's files.",
      std::strerror(errno));
}

}  // namespace krux
