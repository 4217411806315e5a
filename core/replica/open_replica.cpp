#include "core/replica/open_replica.hpp"

#include <fmt/format.h>

#include "core/storage/database.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

/// The log first: one that stayed behind would be taken for the new file's.
void move_aside(const std::filesystem::path& file, const std::filesystem::path& aside) {
  for (const char* part : {"-wal", "-shm", ""}) {
    std::error_code error;
    std::filesystem::rename(file.string() + part, aside.string() + part, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      throw Error(ErrorCode::kDatabaseError,
                  fmt::format("{} is damaged and could not be moved to {} ({}). Move or delete it, "
                              "then restart the host; it is synced again.",
                              file.string(), aside.string(), error.message()));
    }
  }
}

}  // namespace

OpenedReplica open_replica(const std::filesystem::path& file, const std::vector<CollectionSpec>& collections,
                           const Clock& clock) {
  try {
    return {std::make_shared<Replica>(file, collections, clock), {}};
  } catch (const Error&) {
    if (!is_damaged(file)) throw;
  }
  const std::filesystem::path aside = fmt::format("{}.damaged-{}", file.string(), clock.wall_ms());
  move_aside(file, aside);
  return {std::make_shared<Replica>(file, collections, clock), aside};
}

}  // namespace krux
