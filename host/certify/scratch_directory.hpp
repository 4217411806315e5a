// Where a run of the kit keeps its logs and replicas.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "core/util/error.hpp"

namespace krux::certify {

/// A directory of this run's own.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    auto pattern = (std::filesystem::temp_directory_path() / "kruxos-certify-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw ConfigError(
          fmt::format("No directory can be made in {}.", std::filesystem::temp_directory_path().string()));
    path_ = std::filesystem::canonical(pattern);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace krux::certify
