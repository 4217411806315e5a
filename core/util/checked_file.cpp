#include "core/util/checked_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/util/descriptor.hpp"
#include "core/util/file_owner.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

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

std::string size_in_words(std::uintmax_t bytes) {
  return bytes >= (1 << 20) && bytes % (1 << 20) == 0 ? fmt::format("{} MiB", bytes >> 20)
                                                      : fmt::format("{} bytes", bytes);
}

}  // namespace

CheckedFile read_checked_file(const std::filesystem::path& file, std::uintmax_t largest, FileWriters writers) {
  CheckedFile out;
  // Non-blocking, so that a FIFO of that name does not hold the program up.
  const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (fd.get() < 0) {
    out.problem = errno == ELOOP ? "It is a symbolic link; put the file itself there."
                                 : fmt::format("It cannot be opened: {}.", std::strerror(errno));
  } else if (fstat(fd.get(), &info) != 0) {
    out.problem = fmt::format("It cannot be examined: {}.", std::strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    out.problem = "It is not a regular file.";
  } else if (const auto problem = writers == FileWriters::kOwnUser ? owner_problem(info) : ""; !problem.empty()) {
    out.problem = fmt::format("It {}.", problem);
  } else if (static_cast<std::uintmax_t>(info.st_size) > largest) {
    out.problem = fmt::format("It is larger than {}.", size_in_words(largest));
  } else {
    out.problem = read_all(fd.get(), static_cast<std::size_t>(info.st_size), out.bytes);
  }
  if (!out.problem.empty()) return out;
  out.identity = identity_of(info);
  out.sha256 = sha256_hex(out.bytes);
  return out;
}

FileIdentity identify(const std::filesystem::path& file) {
  struct stat info {};
  if (lstat(file.c_str(), &info) != 0) return {};
  return identity_of(info);
}

}  // namespace krux
