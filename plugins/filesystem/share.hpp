// What one agent's changes have in common while the host runs.
#pragma once
#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include "options.hpp"
#include "workspace/home.hpp"
#include "workspace/tree.hpp"

namespace filesystem {

struct Share {
  std::shared_mutex pruning;  ///< no slot goes while one is used
  std::mutex mutex;           ///< of what follows
  std::int64_t pruned_ms = 0;
  std::uint64_t kept = 0;  ///< bytes in the undo store: as counted at the pruning, and what came since
  workspace::Size promised, placed;
};

/// Room in a workspace for something that is being prepared out of it: changes at the same time cannot have the same.
class Room {
 public:
  /// Throws ProxyError WorkspaceFull where there is none for `wanted`.
  Room(Share& share, const workspace::Home& home, const Options& options, workspace::Size wanted,
       const workspace::MayGoOn& may_go_on);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  Share& share_;
  const workspace::Size size_;
};

}  // namespace filesystem
