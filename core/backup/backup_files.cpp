#include "core/backup/backup_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {

std::string named_path(const std::filesystem::path& path) {
  return printable(path.string());
}

void make_directories(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return;
  make_directories(directory.parent_path());
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    throw database_error(fmt::format("{} cannot be made: {}.", named_path(directory), std::strerror(errno)));
}

void check_room(const std::filesystem::path& at, std::uintmax_t needed) {
  struct statvfs info {};
  if (::statvfs(at.c_str(), &info) != 0) return;
  const auto free = static_cast<std::uintmax_t>(info.f_bavail) * info.f_frsize;
  if (free >= needed) return;
  throw database_error(
      fmt::format("{} has {} MiB left, and {} MiB are needed. Free some space there, or name another "
                  "place.",
                  named_path(at), free >> 20, (needed >> 20) + 1));
}

}  // namespace krux
