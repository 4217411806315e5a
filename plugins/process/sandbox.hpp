// What a command is started in: the agent's workspace to write, and no network.
#pragma once
#include <string>
#include <vector>

#include "confined/start.hpp"
#include "options.hpp"

namespace process {

struct Command {
  std::vector<std::string> words;
  std::string directory = "/workspace";
  std::string input;
};

/// `files`: the workspace's descriptor.
confined::Confinement confinement_of(const Options& options, int files);

/// Throws ProxyError with no effect where it cannot be started. The process dies with the thread that starts it.
confined::Started start(const Options& options, int files, const Command& command);

}  // namespace process
