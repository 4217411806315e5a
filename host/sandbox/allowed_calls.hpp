// The system calls that an adapter's process may make: what a C or C++ runtime, OpenSSL and the runner itself need to
// compute, to use threads, to wait, and to speak with the host over the descriptors that are open. Nothing that names
// another process, changes a file, makes a descriptor of a new kind, or has an effect beyond the process.
#pragma once

#include <sys/syscall.h>

#include <array>

namespace krux {

/// Whatever their arguments.
inline constexpr std::array kAllowedCalls = {
    // bytes, through descriptors that are open; sendto() and recvfrom() are looked at
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_lseek,
    SYS_close,
    SYS_dup,
    SYS_dup3,
    SYS_shutdown,
    SYS_pipe2,
    // what there is: paths are looked up, and nothing is read (docs/isolation.md)
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_getcwd,
    SYS_getdents64,
    // waiting
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_restart_syscall,
    // memory; mmap() is looked at
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_mincore,
    SYS_mlock,
    SYS_munlock,
    // threads; clone() is looked at
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getcpu,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_exit,
    SYS_exit_group,
    // signals of its own
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_sigaltstack,
    // what time it is, who it is, chance
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_times,
    SYS_getrusage,
    SYS_getrandom,
    SYS_uname,
    SYS_sysinfo,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrlimit,
#if defined(__x86_64__)
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_getdents,
    SYS_poll,
    SYS_select,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_dup2,
    SYS_pipe,
    SYS_time,
    SYS_pause,
#endif
};

/// While the library is loaded, and refused afterwards.
inline constexpr std::array kAllowedWhileLoading = {
    SYS_readlinkat,
#if defined(__x86_64__)
    SYS_readlink,
#endif
};

}  // namespace krux
