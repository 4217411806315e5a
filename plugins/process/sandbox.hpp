// What a command is started in: bubblewrap, with no network, the system's programs to read, and the workspace to write.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "options.hpp"
#include "workspace/descriptor.hpp"

namespace process {

struct Command {
  std::vector<std::string> words;
  std::string directory = "/workspace";
  std::string input;
};

/// What is needed of a process that was started.
struct Started {
  pid_t pid = -1;
  workspace::Descriptor ended;        ///< readable when it has ended
  workspace::Descriptor out, errors;  ///< never to be waited for
};

/// Throws ProxyError with no effect where it cannot be started. The process dies with the thread that starts it.
Started start(const Options& options, int files, const Command& command);

/// Why commands cannot be confined on this machine, a sentence; empty: they can. Starts one that does nothing.
std::string why_no_sandbox(const Options& options, int files);

}  // namespace process
