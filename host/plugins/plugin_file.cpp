#include "host/plugins/plugin_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/storage/file_owner.hpp"
#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr off_t kLargestFile = off_t{256} << 20;

FileIdentity identity_of(const struct stat& info) {
  return {info.st_dev, info.st_ino, info.st_size, info.st_ctim.tv_sec * 1'000'000'000LL + info.st_ctim.tv_nsec};
}

std::string read_all(int fd, std::size_t size, std::string& out) {
  out.resize(size);
  std::size_t have = 0;
  while (have < size) {
    const auto got = read(fd, out.data() + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fmt::format("It cannot be read: {}.", std::strerror(errno));
    if (got == 0) return "It became shorter while it was read.";
    have += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

PluginFile open_plugin_file(const std::filesystem::path& file) {
  PluginFile out;
  // Non-blocking, so that a FIFO of that name does not hold the host up.
  const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (fd.get() < 0) {
    out.problem = errno == ELOOP ? "It is a symbolic link; put the file itself there."
                                 : fmt::format("It cannot be opened: {}.", std::strerror(errno));
  } else if (fstat(fd.get(), &info) != 0) {
    out.problem = fmt::format("It cannot be examined: {}.", std::strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    out.problem = "It is not a regular file.";
  } else if (const auto problem = owner_problem(info); !problem.empty()) {
    out.problem = fmt::format("It {}.", problem);
  } else if (info.st_size > kLargestFile) {
    out.problem = "It is larger than 256 MiB.";
  } else {
    out.problem = read_all(fd.get(), static_cast<std::size_t>(info.st_size), out.bytes);
  }
  if (!out.problem.empty()) return out;
  out.identity = identity_of(info);
  out.sha256 = sha256_hex(out.bytes);
  return out;
}

std::string directory_problem(const std::filesystem::path& directory) {
  for (auto at = directory;; at = at.parent_path()) {
    struct stat info {};
    if (lstat(at.c_str(), &info) != 0)
      return fmt::format("The directory {} cannot be examined: {}.", at.string(), std::strerror(errno));
    if (!S_ISDIR(info.st_mode)) return fmt::format("{} is not a directory.", at.string());
    const bool above = at != directory;
    const bool sticky = above && (info.st_mode & S_ISVTX) && (info.st_uid == 0 || info.st_uid == geteuid());
    if (!sticky) {
      if (const auto problem = owner_problem(info); !problem.empty()) {
        return fmt::format("The directory {} {}.", at.string(), problem);
      }
    }
    if (at == at.parent_path()) return {};
  }
}

FileIdentity identify(const std::filesystem::path& file) {
  struct stat info {};
  if (lstat(file.c_str(), &info) != 0) return {};
  return identity_of(info);
}

}  // namespace krux
