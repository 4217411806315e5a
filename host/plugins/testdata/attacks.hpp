// What code within a sandbox tries, one try each: {"name":"EPERM",...}, or "ok" where it succeeded. None of it does
// harm where it does.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace attacks {

inline std::string errno_word(long result) {
  if (result >= 0) return "ok";
  switch (errno) {
    case EPERM:
      return "EPERM";
    case EACCES:
      return "EACCES";
    case ENOSYS:
      return "ENOSYS";
    default:
      return "errno " + std::to_string(errno);
  }
}

/// By the numbers of Linux 5.1 and later, which are those of every processor.
enum Later : long {
  kOpenTree = 428,
  kPidfdSendSignal = 424,
  kPidfdOpen = 434,
  kClone3 = 435,
  kOpenat2 = 437,
  kPidfdGetfd = 438,
  kProcessMadvise = 440,
  kMountSetattr = 442,
  kMemfdSecret = 447,
  kProcessMrelease = 448,
  kFchmodat2 = 452,
  kSetxattrat = 463,
  kRemovexattrat = 466,
  kOpenTreeAttr = 467,
  kFileSetattr = 469,
};

class Tries {
 public:
  /// `result` is that of a system call, or of what ends in one.
  void add(const char* name, long result) {
    const auto word = errno_word(result);
    all_ += (all_.empty() ? "\"" : ",\"") + std::string(name) + "\":\"" + word + "\"";
  }
  void call(const char* name, long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
    add(name, syscall(number, a, b, c, d, e));
  }
  std::string json() const { return "{" + all_ + "}"; }

 private:
  std::string all_;
};

inline long pointer(const void* at) {
  return reinterpret_cast<long>(at);
}

inline void try_files(Tries& tries, const std::string& file) {
  const char* const path = file.c_str();
  const char value[] = "1";
  timespec times[2] = {};
  struct Attributes {
    unsigned long flags, extent, projects, count;
  } attributes{};
  tries.add("open", open(path, O_RDONLY));
  tries.add("open by its directory", open("/", O_RDONLY | O_DIRECTORY) >= 0 ? open(path, O_PATH) : -1);
  tries.add("create", open((file + ".new").c_str(), O_WRONLY | O_CREAT, 0600));
  tries.add("truncate", truncate(path, 0));
  tries.add("unlink", unlink(path));
  tries.add("rename", rename(path, (file + ".moved").c_str()));
  tries.add("link", link(path, (file + ".link").c_str()));
  tries.add("symlink", symlink(path, (file + ".symlink").c_str()));
  tries.add("mkdir", mkdir((file + ".dir").c_str(), 0700));
  tries.add("mkfifo", mkfifo((file + ".fifo").c_str(), 0600));
  tries.add("chmod", chmod(path, 0600));
  tries.add("chown", chown(path, getuid(), getgid()));
  tries.add("utimens", utimensat(AT_FDCWD, path, times, 0));
  tries.call("setxattr", SYS_setxattr, pointer(path), pointer("user.a"), pointer(value), 1);
  tries.call("removexattr", SYS_removexattr, pointer(path), pointer("user.a"));
  tries.call("fchmodat2", kFchmodat2, AT_FDCWD, pointer(path), 0600, 0);
  tries.call("setxattrat", kSetxattrat, AT_FDCWD, pointer(path), 0, pointer("user.a"), pointer(&attributes));
  tries.call("removexattrat", kRemovexattrat, AT_FDCWD, pointer(path), 0, pointer("user.a"));
  tries.call("file_setattr", kFileSetattr, AT_FDCWD, pointer(path), pointer(&attributes), sizeof(attributes), 0);
  tries.call("open_tree", kOpenTree, AT_FDCWD, pointer(path), 0);
  tries.call("open_tree_attr", kOpenTreeAttr, AT_FDCWD, pointer(path), 0, 0, 0);
  tries.call("mount_setattr", kMountSetattr, AT_FDCWD, pointer(path), 0, pointer(&attributes), sizeof(attributes));
  tries.call("openat2", kOpenat2, AT_FDCWD, pointer(path), pointer(&attributes), 24);
  tries.call("inotify_init1", SYS_inotify_init1);
  tries.call("fanotify_init", SYS_fanotify_init);
  tries.call("statfs", SYS_statfs, pointer("/"), pointer(&attributes) == 0);
  tries.call("chdir", SYS_chdir, pointer("/"));
  tries.call("chroot", SYS_chroot, pointer("/"));
  tries.call("mount", SYS_mount, pointer("none"), pointer("/nowhere"), pointer("tmpfs"));
  tries.call("sync", SYS_sync);
  tries.call("syncfs", SYS_syncfs, 1);
  tries.call("fallocate", SYS_fallocate, 1, 0, 0, 1);
  tries.call("ftruncate", SYS_ftruncate, 1, 0);
  tries.call("fchmod", SYS_fchmod, 1, 0666);
  tries.call("flock", SYS_flock, 1, 0);
  tries.call("sendfile", SYS_sendfile, 1, 0, 0, 1);
  tries.call("splice", SYS_splice, 0, 0, 1, 0, 1);
  tries.call("name_to_handle_at", SYS_name_to_handle_at, AT_FDCWD, pointer(path), 0, 0, 0);
  tries.call("open_by_handle_at", SYS_open_by_handle_at, AT_FDCWD, 0, 0);
  tries.call("quotactl", SYS_quotactl, 0, 0, 0, 0);
}

inline int return_at_once(void*) {
  return 0;
}

/// A thread that shares less, or brings more, than C libraries ask for.
inline void try_threads(Tries& tries) {
  static char stack[64 * 1024];
  const auto start = [&](const char* name, int flags) {
    tries.add(name, clone(return_at_once, stack + sizeof(stack), flags, nullptr));
  };
  constexpr int whole = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  start("clone without CLONE_FILES", whole & ~CLONE_FILES);
  start("clone without CLONE_FS", whole & ~CLONE_FS);
  start("clone with CLONE_NEWNS", whole | CLONE_NEWNS);
  start("clone with CLONE_PTRACE", whole | CLONE_PTRACE);
  start("clone with CLONE_PARENT", whole | CLONE_PARENT);
  tries.call("close_range with CLOSE_RANGE_UNSHARE", SYS_close_range, 1000, 1000, CLOSE_RANGE_UNSHARE);
}

/// Harmless where it works: signal 0, or one that is ignored.
inline void try_signals(Tries& tries) {
  const auto parent = getppid();
  int ends[2] = {-1, -1};
  tries.add("kill the parent", kill(parent, 0));
  tries.add("kill the user's processes", kill(-1, 0));
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  tries.call("rt_sigqueueinfo", SYS_rt_sigqueueinfo, parent, 0, pointer(&info));
  tries.call("rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, parent, parent, 0, pointer(&info));
  tries.call("tgkill", SYS_tgkill, parent, parent, 0);
  tries.call("tkill", SYS_tkill, parent, 0);
  if (pipe(ends) != 0) return;
  const int owner[2] = {F_OWNER_PID, parent};
  tries.add("F_SETOWN", fcntl(ends[0], F_SETOWN, parent));
  tries.call("F_SETOWN_EX", SYS_fcntl, ends[0], F_SETOWN_EX, pointer(owner));
  tries.add("F_SETSIG", fcntl(ends[0], F_SETSIG, SIGURG));
  tries.add("O_ASYNC", fcntl(ends[0], F_SETFL, O_ASYNC));
  tries.add("FIOASYNC", ioctl(ends[0], FIOASYNC, owner));
  tries.add("FIOSETOWN", ioctl(3, FIOSETOWN, &parent));
  tries.add("SIOCSPGRP", ioctl(3, SIOCSPGRP, &parent));
  tries.add("F_SETPIPE_SZ", fcntl(ends[0], F_SETPIPE_SZ, 1 << 20));
  tries.add("F_NOTIFY", fcntl(ends[0], F_NOTIFY, DN_MODIFY));
  close(ends[0]);
  close(ends[1]);
}

inline void try_processes(Tries& tries) {
  try_signals(tries);
  const auto parent = getppid();
  siginfo_t info{};
  char* const arguments[] = {nullptr};
  tries.add("exec", execve("/bin/true", arguments, arguments));
  const auto child = fork();
  if (child == 0) _exit(0);
  tries.add("fork", child);
  if (child > 0) waitpid(child, nullptr, 0);
  tries.call("clone3", kClone3, 0, 0);
  tries.call("ptrace", SYS_ptrace, 0x4206 /* PTRACE_SEIZE */, parent);
  tries.call("process_vm_readv", SYS_process_vm_readv, parent, 0, 0, 0, 0);
  tries.call("process_madvise", kProcessMadvise, -1, 0, 0, 0, 0);
  tries.call("pidfd_open", kPidfdOpen, parent, 0);
  tries.call("pidfd_getfd", kPidfdGetfd, -1, 0, 0);
  tries.call("pidfd_send_signal", kPidfdSendSignal, -1, 0, 0, 0);
  tries.call("process_mrelease", kProcessMrelease, -1, 0);
  tries.call("process_vm_writev", SYS_process_vm_writev, parent, 0, 0, 0, 0);
  tries.call("execveat", SYS_execveat, 0, pointer(""), 0, 0, AT_EMPTY_PATH);
  tries.call("get_robust_list", SYS_get_robust_list, parent, pointer(&info), pointer(&info));
  tries.call("move_pages", SYS_move_pages, parent, 0, 0, 0, 0);
  tries.call("migrate_pages", SYS_migrate_pages, parent, 0, 0, 0);
  tries.call("ioprio_set", SYS_ioprio_set, 1, 0, 0);
  tries.call("sched_setattr", SYS_sched_setattr, 0, 0, 0);
  tries.call("setrlimit", SYS_setrlimit, RLIMIT_NOFILE, pointer(&info));
  tries.call("capset", SYS_capset, 0, 0);
  tries.call("setuid", SYS_setuid, getuid());
  tries.call("kcmp", SYS_kcmp, getpid(), getpid(), 0, 0, 0);
  tries.call("prlimit64 of the parent", SYS_prlimit64, parent, RLIMIT_NOFILE, pointer(&info), 0);
  tries.call("prlimit64 of its own", SYS_prlimit64, 0, RLIMIT_CORE, pointer(&info), 0);
  tries.add("PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, 0));
  tries.add("PR_SET_DUMPABLE", prctl(PR_SET_DUMPABLE, 1));
  tries.add("PR_SET_PTRACER", prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY));
  tries.add("PR_SET_SECCOMP", prctl(PR_SET_SECCOMP, 0));
  tries.add("PR_SET_CHILD_SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 1));
  tries.add("setpriority", setpriority(PRIO_PROCESS, 0, 10));
  tries.call("sched_setaffinity", SYS_sched_setaffinity, parent, 0, 0);
  tries.call("sched_setscheduler", SYS_sched_setscheduler, 0, 0, 0);
  tries.call("setsid", SYS_setsid);
  tries.call("unshare", SYS_unshare, CLONE_NEWUSER);
  tries.call("setns", SYS_setns, 0, 0);
  tries.call("personality", SYS_personality, 0);
#if defined(__x86_64__)
  tries.call("modify_ldt", SYS_modify_ldt, 0, 0, 0);
  tries.call("ioperm", SYS_ioperm, 0, 0, 0);
#endif
}

inline void try_memory_and_kernel(Tries& tries) {
  const auto map = [](int flags) {
    void* const at = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, flags, -1, 0);
    return at == MAP_FAILED ? -1L : 0L;
  };
  tries.add("shared memory", map(MAP_SHARED | MAP_ANONYMOUS));
  tries.add("a stack that grows", map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN));
  tries.add("huge pages", map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB));
  tries.call("memfd_create", SYS_memfd_create, pointer("a"), 0);
  tries.call("memfd_secret", kMemfdSecret, 0);
  tries.call("shmget", SYS_shmget, 0, 4096, 01600);
  tries.call("shmat", SYS_shmat, 0, 0, 0);
  tries.call("shmctl", SYS_shmctl, 0, 14 /* SHM_INFO */, 0);
  tries.call("semget", SYS_semget, 0, 1, 01600);
  tries.call("semctl", SYS_semctl, 0, 0, 19 /* SEM_INFO */, 0);
  tries.call("msgget", SYS_msgget, 0, 01600);
  tries.call("msgctl", SYS_msgctl, 0, 12 /* MSG_INFO */, 0);
  tries.call("msgrcv", SYS_msgrcv, 0, 0, 0, 0, 04000);
  tries.call("mq_open", SYS_mq_open, pointer("a"), O_CREAT | O_RDWR, 0600, 0);
  aio_context_t context = 0;
  tries.call("io_setup", SYS_io_setup, 1, pointer(&context));
  tries.call("io_uring_setup", 425, 1, 0);
  tries.call("bpf", SYS_bpf, 0, 0, 0);
  tries.call("userfaultfd", SYS_userfaultfd, 0);
  tries.call("perf_event_open", SYS_perf_event_open, 0, 0, -1, -1, 0);
  tries.call("keyctl", SYS_keyctl, 0, 0, 0, 0, 0);
  tries.call("add_key", SYS_add_key, pointer("user"), pointer("a"), pointer("a"), 1, -3);
  tries.call("seccomp", SYS_seccomp, 0, 0, 0);
  tries.call("io_uring_enter", 426, -1, 0, 0, 0, 0);
  tries.call("io_uring_register", 427, -1, 0, 0, 0);
  tries.call("landlock_create_ruleset", 444, 0, 0, 1);
  tries.call("mlockall", SYS_mlockall, 0);
  tries.call("mbind", SYS_mbind, 0, 0, 0, 0, 0);
  tries.call("pkey_alloc", SYS_pkey_alloc, 0, 0);
  tries.call("syslog", SYS_syslog, 10, 0, 0);
  tries.call("init_module", SYS_init_module, 0, 0, 0);
  tries.call("setitimer", SYS_setitimer, 0, 0, 0);
  tries.call("timer_create", SYS_timer_create, 0, 0, 0);
  tries.call("a call of a later kernel", 599);
}

inline void try_sockets(Tries& tries) {
  int ends[2];
  tries.add("socket", socket(AF_INET, SOCK_STREAM, 0));
  tries.add("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tries.add("netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
  tries.add("vsock socket", socket(AF_VSOCK, SOCK_STREAM, 0));
  tries.add("packet socket", socket(AF_PACKET, SOCK_RAW, 0));
  tries.add("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  tries.call("connect", SYS_connect, 3, 0, 0);
  tries.call("sendmsg", SYS_sendmsg, 3, 0, 0);
  tries.call("setsockopt", SYS_setsockopt, 3, 0, 0, 0, 0);
  tries.call("getsockopt", SYS_getsockopt, 3, 0, 0, 0, 0);
  tries.call("recvmsg", SYS_recvmsg, 3, 0, MSG_DONTWAIT);
  tries.call("sendmmsg", SYS_sendmmsg, 3, 0, 0, 0);
  tries.call("accept4", SYS_accept4, 3, 0, 0, 0);
  char byte = 0;
  tries.add("send out of band", send(3, &byte, 0, MSG_OOB));
  tries.add("receive out of band", recv(3, &byte, 1, MSG_OOB | MSG_DONTWAIT));
}

inline std::string all(const std::string& file) {
  Tries tries;
  try_files(tries, file);
  try_threads(tries);
  try_processes(tries);
  try_memory_and_kernel(tries);
  try_sockets(tries);
  return tries.json();
}

}  // namespace attacks
