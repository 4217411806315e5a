// Where a host for tests has everything that is its own.
#pragma once

#include <filesystem>

#include "core/util/descriptor.hpp"

namespace krux {

/// A directory of this run's own, below the one for temporary files; gone with what is in it when this is destroyed.
class TestDirectory {
 public:
  /// Also removes what runs that were killed have left. Throws ConfigError.
  TestDirectory();
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< as long as the run lives
};

/// Of runs that were killed, in `around`.
void remove_test_directories(const std::filesystem::path& around);

}  // namespace krux
