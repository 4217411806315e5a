// What a process and all that it has started use.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>

namespace process {

struct Usage {
  std::int64_t processes = 0, bytes = 0;
  std::int64_t nameless_disk = 0;  ///< of files in the workspace that are deleted, and still open
};

/// All processes of this machine as they are now.
class ProcessTable {
 public:
  ProcessTable();
  /// Of all below `root`, without it. `disk` is the workspace's device; what they hold open elsewhere and has no name
  /// is memory.
  Usage below(pid_t root, dev_t disk) const;

 private:
  struct Entry {
    pid_t parent = 0;
    std::int64_t bytes = 0;
  };
  std::map<pid_t, Entry> all_;
  std::multimap<pid_t, pid_t> children_;
};

}  // namespace process
