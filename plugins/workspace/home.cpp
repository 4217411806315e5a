#include "workspace/home.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "workspace/failure.hpp"

namespace workspace {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

int open_once(int directory, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(syscall(SYS_openat2, directory, path, &how, sizeof how));
}

kruxos::ProxyError unusable_root(const std::string& root, const std::string& why) {
  return invalid("The directory of the workspaces, " + root + " (key adapter.root), cannot be used: " + why);
}

/// Made for the host's user alone.
Descriptor own_directory(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) throw failure_of(errno, kRoot, "made");
  Descriptor made(openat(parent, name.c_str(), kDirectory | O_NOFOLLOW));
  if (!made) throw failure_of(errno, kRoot, "opened");
  return made;
}

bool is_agent(std::string_view agent) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !agent.empty() && agent.size() <= 64 && agent.front() != '.' && std::all_of(agent.begin(), agent.end(), fits);
}

}  // namespace

Descriptor open_beneath(int directory, const std::string& path, int flags) {
  constexpr int kMostTries = 64;  // EAGAIN: something was renamed while the kernel looked
  int fd = -1;
  for (int tries = 0; tries < kMostTries; ++tries) {
    fd = open_once(directory, path.c_str(), flags);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return Descriptor(fd);
}

Homes::Homes(const std::string& root) {
  if (!root.starts_with('/')) throw unusable_root(root, "an absolute path is expected, such as /srv/workspaces.");
  if (mkdir(root.c_str(), 0700) != 0 && errno != EEXIST)
    throw unusable_root(root, std::string("it cannot be made: ") + std::strerror(errno) + ".");
  root_ = Descriptor(open(root.c_str(), kDirectory));
  struct stat found {};
  if (!root_ || fstat(root_.get(), &found) != 0) throw unusable_root(root, std::string(std::strerror(errno)) + ".");
  if (found.st_uid != geteuid()) throw unusable_root(root, "it belongs to another user than the host's.");
  if ((found.st_mode & 022) != 0) throw unusable_root(root, "others can write it; run chmod go-w on it.");
  if (!open_beneath(root_.get(), ".", kDirectory))
    throw unusable_root(root, std::string("openat2() answers: ") + std::strerror(errno) +
                                  ". Linux 5.6 or newer is needed, and a container that permits the call.");
}

Home Homes::of(std::string_view agent) const {
  if (!is_agent(agent))
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported,
                             "The host does not say which agent calls, and workspaces are agents'.")
        .no_effect();
  Home home;
  home.directory = own_directory(root_.get(), std::string(agent));
  home.files = own_directory(home.directory.get(), "files");
  home.undo = own_directory(home.directory.get(), "undo");
  home.processes = own_directory(home.directory.get(), "processes");
  return home;
}

Descriptor open_directory(int files, const std::string& relative, const Path& path) {
  auto opened = open_beneath(files, relative, kDirectory);
  if (!opened) throw failure_of(errno, path.shown(), "opened");
  return opened;
}

bool look_at(int directory, const std::string& name, struct stat& found, const Path& path) {
  if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  throw failure_of(errno, path.shown(), "looked at");
}

Descriptor open_file(int files, const Path& path, struct stat& found) {
  // What is there is looked at before it is opened: to open a device or a FIFO can already do something.
  const auto place = open_beneath(files, path.relative(), O_PATH | O_NOFOLLOW);
  if (!place || fstat(place.get(), &found) != 0) throw failure_of(errno, path.shown(), "read");
  if (S_ISDIR(found.st_mode)) throw refused(path.shown() + " is a directory: list it instead.", "NotAFile");
  if (!S_ISREG(found.st_mode))
    throw refused(path.shown() + " is a " + type_of(found.st_mode) + ", and only regular files are read.", "NotAFile");
  Descriptor opened(
      open(("/proc/self/fd/" + std::to_string(place.get())).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!opened) throw failure_of(errno, path.shown(), "read");
  return opened;
}

const char* type_of(mode_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "directory";
  if (S_ISLNK(mode)) return "symlink";
  if (S_ISFIFO(mode)) return "fifo";
  return S_ISSOCK(mode) ? "socket" : "device";
}

}  // namespace workspace
