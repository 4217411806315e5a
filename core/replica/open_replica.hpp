// Opening a replica that may be damaged.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/replica/replica.hpp"

namespace krux {

struct OpenedReplica {
  std::shared_ptr<Replica> store;
  std::filesystem::path set_aside;  ///< where a damaged file was moved; empty when it was whole
};

/// A damaged replica is moved beside itself (`<file>.damaged-<Unix milliseconds>`) and begun anew: all that was in it
/// is synced again. Everything else that Replica throws is thrown on, and the file stays as it is.
OpenedReplica open_replica(const std::filesystem::path& file, const std::vector<CollectionSpec>& collections,
                           const Clock& clock);

}  // namespace krux
