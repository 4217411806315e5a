// The options of kruxosd.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace krux {

struct HostCommandLine {
  std::string config_file;
  std::vector<std::string> settings;  ///< "server.port=7701"
  bool check_only = false, held = false;
};

void add_host_options(CLI::App& app, HostCommandLine& line);

}  // namespace krux
