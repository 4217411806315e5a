#include "host/runner/program/confine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/util/descriptor.hpp"

namespace krux {
namespace {

void limit(__rlimit_resource what, std::int64_t most) {
  const rlimit value{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  setrlimit(what, &value);
}

// ABI 3 of Landlock; the headers of Debian 12 know ABI 2.
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;
constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kReadTree = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;

std::uint64_t handled_by(long abi) {
  std::uint64_t handled = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (abi >= 2) handled |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) handled |= kTruncate;
  return handled;
}

void allow(int rules, const std::string& path) {
  const Descriptor at(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (at.get() < 0 || fstat(at.get(), &info) != 0) return;
  const landlock_path_beneath_attr rule{S_ISDIR(info.st_mode) ? kReadTree : kReadFile, at.get()};
  syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

void allow_list(int rules, const char* paths) {
  std::string_view left = paths ? paths : "";
  while (!left.empty()) {
    const auto path = left.substr(0, left.find(':'));
    if (!path.empty()) allow(rules, std::string(path));
    left.remove_prefix(std::min(path.size() + 1, left.size()));
  }
}

}  // namespace

void give_up_privileges(const ProcessLimits& limits, unsigned first_closed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_close_range, first_closed, ~0U, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  if (limits.open_files > 0) limit(RLIMIT_NOFILE, limits.open_files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // What is written to counts, not what is reserved: thread stacks, libraries and arenas reserve much more.
  if (limits.memory_mb > 0) limit(RLIMIT_DATA, limits.memory_mb << 20);
#endif
}

std::string hide_files(const std::filesystem::path& directory) {
  const auto abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1)
    return "The kernel has no Landlock, so that code which runs while it is loaded can read the host's files.";
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = handled_by(abi);
  const Descriptor rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0)));
  if (rules.get() < 0) return fmt::format("Landlock could not be used: {}.", std::strerror(errno));
  for (const char* path : {"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc/self", "/dev/null",
                           "/dev/urandom", "/sys/devices/system/cpu"}) {
    allow(rules.get(), path);
  }
  allow_list(rules.get(), std::getenv("LD_LIBRARY_PATH"));
  allow(rules.get(), directory.string());
  if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) {
    return fmt::format("Landlock could not be used: {}.", std::strerror(errno));
  }
  return {};
}

}  // namespace krux
