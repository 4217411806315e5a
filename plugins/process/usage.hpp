// What a process and all that it has started use.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>

namespace process {

struct Usage {
  std::int64_t processes = 0, bytes = 0;
};

/// All processes of this machine as they are now.
class ProcessTable {
 public:
  ProcessTable();
  /// Of all below `root`, without it.
  Usage below(pid_t root) const;

 private:
  struct Entry {
    pid_t parent = 0;
    std::int64_t bytes = 0;
  };
  std::map<pid_t, Entry> all_;
  std::multimap<pid_t, pid_t> children_;
};

}  // namespace process
