#include "system_calls.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <kruxos/adapter/error.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace confined {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "The filter of system calls knows x86-64 and arm64."
#endif

// Names that a kernel's headers may be too old for are left out there.
constexpr std::uint32_t kRefused[] = {
    // keys of the session that the host was started in
    SYS_add_key,
    SYS_keyctl,
    SYS_request_key,
    // programs within the kernel, its counters and its queues
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    // file systems and namespaces
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_quotactl,
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
#ifdef SYS_quotactl_fd
    SYS_quotactl_fd,
#endif
    // other programs' memory
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
    // the machine
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS__sysctl,
#endif
};
constexpr std::uint32_t kFamilies[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
#if defined(__x86_64__)
constexpr std::uint32_t kForeignNumbers = 0x40000000;  ///< of the x32 calls, which have the same architecture
#endif

using Program = std::vector<sock_filter>;

void load(Program& program, std::size_t offset) {
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
}
void answer(Program& program, std::uint32_t what) {
  program.push_back(BPF_STMT(BPF_RET | BPF_K, what));
}
/// The next instruction stands where the value is that one; it is passed over elsewhere.
void where_equal(Program& program, std::uint32_t value) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
}

Program program_of() {
  Program program;
  load(program, offsetof(seccomp_data, arch));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  answer(program, SECCOMP_RET_ERRNO | ENOSYS);
  load(program, offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kForeignNumbers, 0, 1));
  answer(program, SECCOMP_RET_ERRNO | ENOSYS);
#endif
  for (const auto call : kRefused) {
    where_equal(program, call);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
  }
  constexpr auto family_checks = static_cast<std::uint8_t>(2 * std::size(kFamilies) + 2);
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, family_checks));
  load(program, offsetof(seccomp_data, args));  // the lower half, on machines whose numbers begin with it
  for (const auto family : kFamilies) {
    where_equal(program, family);
    answer(program, SECCOMP_RET_ALLOW);
  }
  answer(program, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
  answer(program, SECCOMP_RET_ALLOW);
  return program;
}

}  // namespace

workspace::Descriptor call_filter() {
  static const Program program = program_of();
  workspace::Descriptor file(memfd_create("filter", MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(program.size() * sizeof(sock_filter));
  if (!file || write(file.get(), program.data(), static_cast<std::size_t>(size)) != size ||
      lseek(file.get(), 0, SEEK_SET) != 0)
    throw kruxos::ProxyError(
        kruxos::ErrorKind::kUnavailable,
        std::string("Memory for the filter of system calls could not be had: ") + std::strerror(errno) + ".")
        .no_effect();
  return file;
}

}  // namespace confined
