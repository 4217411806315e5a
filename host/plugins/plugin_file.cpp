#include "host/plugins/plugin_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/util/file_owner.hpp"

namespace krux {

PluginFile open_plugin_file(const std::filesystem::path& file) {
  return read_checked_file(file, std::uintmax_t{256} << 20);
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

}  // namespace krux
