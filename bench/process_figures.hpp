// What a process has used, by what the system tells of it.
#pragma once

#include <sys/types.h>

namespace krux::bench {

struct ProcessFigures {
  double cpu_s = 0;
  double private_mb = 0;  ///< RssAnon: memory of its own; mapped pages of files are the kernel's
  double peak_mb = 0;     ///< VmHWM: the most that was resident at once, mapped pages included
};

/// Wrong() when there is no such process.
ProcessFigures process_figures(pid_t pid);

}  // namespace krux::bench
