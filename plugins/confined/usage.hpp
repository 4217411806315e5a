// What a process and all that it has started use.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>

namespace confined {

/// The sandbox's own processes below the one that was started, beside the program's.
inline constexpr std::int64_t kOwnProcesses = 2;

struct Usage {
  std::int64_t processes = 0, bytes = 0;
  std::int64_t nameless_disk = 0;  ///< of files on the disk that are deleted, and still open
};

/// All processes of this machine as they are now.
class ProcessTable {
 public:
  ProcessTable();
  /// Of all below `root`, without it. `disk` is the device of the directory that they write; what they hold open
  /// elsewhere and has no name is memory.
  Usage below(pid_t root, dev_t disk) const;

 private:
  struct Entry {
    pid_t parent = 0;
    std::int64_t bytes = 0;
  };
  std::map<pid_t, Entry> all_;
  std::multimap<pid_t, pid_t> children_;
};

}  // namespace confined
