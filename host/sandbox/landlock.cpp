// Landlock: what of the file system can be read, and from ABI 4 and 6 on also connections and signals. The headers of
// Debian 12 know ABI 2; what is newer stands here by its number.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/util/descriptor.hpp"
#include "host/sandbox/confine.hpp"

namespace krux {
namespace {

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t ports = 0;   // ABI 4
  std::uint64_t scoped = 0;  // ABI 6
};

constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;       // ABI 3
constexpr std::uint64_t kBindTcp = 1, kConnectTcp = 2;            // ABI 4
constexpr std::uint64_t kDeviceControl = std::uint64_t{1} << 15;  // ABI 5
constexpr std::uint64_t kAbstractUnixSockets = 1, kSignals = 2;   // ABI 6
constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kReadTree = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;

/// What a loader, a C++ runtime and a sanitizer read. Of /proc its own files alone: the kernel tells more there than an
/// adapter needs.
constexpr const char* kReadable[] = {"/usr",
                                     "/lib",
                                     "/lib64",
                                     "/etc/ld.so.cache",
                                     "/etc/localtime",
                                     "/proc/self/maps",
                                     "/proc/self/stat",
                                     "/proc/self/statm",
                                     "/proc/self/status",
                                     "/proc/self/cmdline",
                                     "/dev/null",
                                     "/dev/urandom",
                                     "/sys/devices/system/cpu"};

RulesetAttributes handled_by(int abi) {
  RulesetAttributes out;
  out.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (abi >= 2) out.files |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) out.files |= kTruncate;
  if (abi >= 4) out.ports = kBindTcp | kConnectTcp;
  if (abi >= 5) out.files |= kDeviceControl;
  if (abi >= 6) out.scoped = kAbstractUnixSockets | kSignals;
  return out;
}

std::size_t size_for(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? offsetof(RulesetAttributes, scoped) : offsetof(RulesetAttributes, ports);
}

void allow(int rules, const std::string& path) {
  const Descriptor at(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (at.get() < 0 || fstat(at.get(), &info) != 0) return;
  const landlock_path_beneath_attr rule{S_ISDIR(info.st_mode) ? kReadTree : kReadFile, at.get()};
  syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/// Relative ones name the directory that the host was started in, and would be looked for in that of this process: "."
/// is the whole file system.
void allow_list(int rules, const char* paths) {
  std::string_view left = paths ? paths : "";
  while (!left.empty()) {
    const auto path = left.substr(0, left.find(':'));
    if (path.starts_with('/')) allow(rules, std::string(path));
    left.remove_prefix(std::min(path.size() + 1, left.size()));
  }
}

std::string unusable() {
  return fmt::format("Landlock could not be used: {}.", std::strerror(errno));
}

}  // namespace

std::string restrict_by_landlock(const std::filesystem::path& directory, int newest_abi) {
  const auto known = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  const auto abi = static_cast<int>(std::min<long>(known, newest_abi));
  if (abi < 1)
    return "The kernel has no Landlock, so that code which runs while it is loaded can read the host's files.";
  const auto attributes = handled_by(abi);
  const Descriptor rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size_for(abi), 0)));
  if (rules.get() < 0) return unusable();
  for (const char* path : kReadable) allow(rules.get(), path);
  allow_list(rules.get(), std::getenv("LD_LIBRARY_PATH"));
  allow(rules.get(), directory.string());
  return syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0 ? std::string() : unusable();
}

}  // namespace krux
