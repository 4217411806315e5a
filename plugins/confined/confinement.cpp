#include "confinement.hpp"

#include <unistd.h>
#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/text.hpp>

#include <array>
#include <initializer_list>

namespace confined {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kMemoryDisk = "67108864";  ///< bytes of /tmp, of /dev/shm, and of a home in memory
constexpr std::string_view kEnvironment = "/run/environment";

// What the shell says of the file may be a part of it, and is dropped: its own sentence stands for that.
constexpr const char* kWithEnvironment =
    "trap 'echo \"The environment file is not to be read: each line is NAME=VALUE, as a shell reads it.\" >&2' EXIT; "
    "set -a; . /run/environment 2>/dev/null; set +a; trap - EXIT; exec \"$@\"";

void append(Words& all, std::initializer_list<std::string_view> more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::string mib(std::int64_t count) {
  return std::to_string(count << 20);
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

void check_path(std::string_view path, std::string_view what) {
  const auto refuse = [&](const std::string& why) {
    throw kruxos::ProxyError(kruxos::ErrorKind::kInvalid,
                             std::string(what) + " \"" + kruxos::kit::printable(path, 200) + "\" " + why)
        .no_effect();
  };
  if (!path.starts_with('/')) refuse("is no absolute path: write it from / on.");
  if (path.find('\0') != std::string_view::npos) refuse("has a NUL.");
  for (std::string_view rest = path.substr(1);;) {
    const auto name = rest.substr(0, rest.find('/'));
    if (name.empty() || name == "." || name == "..")
      refuse("is to be written without \"//\", \".\", \"..\" and an end \"/\".");
    if (name.size() == rest.size()) break;
    rest.remove_prefix(name.size() + 1);
  }
}

void open_namespaces(Words& all, bool network) {
  append(all, {"--unshare-user", "--unshare-ipc", "--unshare-pid"});
  if (!network) append(all, {"--unshare-net"});
  append(all, {"--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
               "--disable-userns", "--hostname", "workspace"});
  append(all, {"--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", kHome, "--setenv",
               "LANG", "C.UTF-8", "--setenv", "TMPDIR", "/tmp"});
}

void show_system(Words& all, bool network) {
  append(all, {"--ro-bind", "/usr", "/usr"});
  const auto show = [&](std::string_view at) { append(all, {"--ro-bind-try", at, at}); };
  for (const char* at : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"}) show(at);
  if (network) {
    for (const char* at : {"/etc/resolv.conf", "/etc/ssl", "/etc/hosts", "/etc/nsswitch.conf"}) show(at);
  }
  for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const auto at = std::string("/") + name;
    std::array<char, 256> target{};
    // Where these are links into /usr, as in Debian 12; directories of their own elsewhere.
    if (readlink(at.c_str(), target.data(), target.size() - 1) > 0) {
      append(all, {"--symlink", target.data(), at});
    } else {
      show(at);
    }
  }
}

void give_memory(Words& all, std::string_view at) {
  append(all, {"--size", kMemoryDisk, "--perms", "1777", "--tmpfs", at});
}

void hold_to_limits(Words& all, const Confinement& confinement) {
  // Where the machine is busy or out of memory, the programs stand back for the host.
  append(all, {"/usr/bin/nice", "-n", "5", "/usr/bin/choom", "-n", "1000", "--"});
  append(all, {"/usr/bin/prlimit", "--core=0", "--nofile=256", "--nproc=" + std::to_string(confinement.processes),
               "--fsize=" + mib(confinement.file_mib), "--data=" + mib(confinement.memory_mib), "--"});
}

}  // namespace

void check(const Confinement& confinement) {
  if (!confinement.environment_file.empty()) check_path(confinement.environment_file, "The environment file");
  for (const auto& path : confinement.readable) {
    check_path(path, "The readable path");
    for (const auto own : {std::string_view("/proc"), std::string_view("/sys"), kEnvironment, kHome}) {
      if (is_at_or_below(path, own))
        throw kruxos::ProxyError(
            kruxos::ErrorKind::kInvalid,
            "The readable path \"" + kruxos::kit::printable(path, 200) + "\" is the sandbox's own place: leave it out.")
            .no_effect();
    }
  }
}

Words words_for(const Confinement& confinement, std::string_view working_directory, const Words& words) {
  check(confinement);
  Words all{confinement.sandbox};
  open_namespaces(all, confinement.network);
  show_system(all, confinement.network);
  append(all, {"--proc", "/proc", "--dev", "/dev", "--size", kMemoryDisk, "--tmpfs", "/tmp"});
  give_memory(all, "/dev/shm");
  if (confinement.directory >= 0) {
    append(all, {"--bind-fd", "3", kHome});
  } else {
    give_memory(all, kHome);
  }
  for (const auto& path : confinement.readable) append(all, {"--ro-bind", path, path});
  if (!confinement.environment_file.empty()) append(all, {"--ro-bind", confinement.environment_file, kEnvironment});
  // Both are memory without a bound otherwise.
  append(all, {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", working_directory});
  append(all, {"--seccomp", confinement.directory >= 0 ? "4" : "3", "--"});
  hold_to_limits(all, confinement);
  if (!confinement.environment_file.empty()) append(all, {"/bin/sh", "-c", kWithEnvironment, "sh"});
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace confined
