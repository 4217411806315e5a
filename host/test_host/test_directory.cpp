#include "host/test_host/test_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <system_error>

#include "core/util/error.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBeginning = "kruxos-test-host-";

/// -1 where another run holds it.
int take_lock(const fs::path& directory) {
  Descriptor lock(::open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool taken = lock.get() >= 0 && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  return taken ? lock.release() : -1;
}

fs::path make_directory() {
  const auto around = fs::temp_directory_path();
  auto pattern = (around / (std::string(kBeginning) + "XXXXXX")).string();
  if (!::mkdtemp(pattern.data()))
    throw ConfigError(
        fmt::format("No directory can be made in {}: set TMPDIR to one where that is possible.", around.string()));
  return fs::canonical(pattern);
}

}  // namespace

TestDirectory::TestDirectory() : path_(make_directory()), lock_(take_lock(path_)) {
  remove_test_directories(path_.parent_path());
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_test_directories(const fs::path& around) {
  constexpr auto kYoung = std::chrono::minutes(1);  // a run that is about to begin has no lock yet
  std::error_code error;
  for (fs::directory_iterator at(around, error), end; !error && at != end; at.increment(error)) {
    struct stat about {};
    if (!at->path().filename().string().starts_with(kBeginning)) continue;
    if (::lstat(at->path().c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid()) continue;
    std::error_code ignored;
    const auto changed = fs::last_write_time(at->path(), ignored);
    if (ignored || changed + kYoung > fs::file_time_type::clock::now()) continue;
    if (const Descriptor lock(take_lock(at->path())); lock.get() >= 0) fs::remove_all(at->path(), ignored);
  }
}

}  // namespace krux
