#include "core/util/write_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file) {
  const auto reason = std::strerror(errno);
  throw database_error(fmt::format("{} could not be written: {}. Check the directory's rights and the space left.",
                                   file.string(), reason));
}

void write_all(int fd, std::string_view bytes, const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void write_durably(const std::filesystem::path& file, std::string_view content, mode_t mode) {
  const Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (fd.get() < 0 || ::fchmod(fd.get(), mode) != 0) fail(file);
  write_all(fd.get(), content, file);
  if (::fsync(fd.get()) != 0) fail(file);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& file, std::string_view content, mode_t mode) {
  auto beside = file;
  beside += ".new";
  try {
    write_durably(beside, content, mode);
    if (::rename(beside.c_str(), file.c_str()) != 0) fail(file);
  } catch (const Error&) {
    ::unlink(beside.c_str());
    throw;
  }
  // A name alone stands in the directory in which the program works.
  if (!sync_directory(file.has_parent_path() ? file.parent_path() : ".")) fail(file);
}

bool sync_directory(const std::filesystem::path& directory) {
  const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.get() >= 0 && ::fsync(opened.get()) == 0;
}

}  // namespace krux
