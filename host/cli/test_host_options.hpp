// The options of a host for tests: `kruxos test-host` has them, and the program that it becomes.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace krux::cli {

struct TestHostOptions {
  std::vector<std::string> adapters;  ///< a service's name, a mock's script, an adapter's file, a bundle's directory
  std::vector<std::string> agents;    ///< names; empty: one, "tester"
  std::vector<std::string> tokens;    ///< "notes=TOKEN"
  std::vector<std::string> settings;  ///< "server.port=7701"
  std::string definitions, policies;  ///< directories; empty: the installed definitions, no policies
  std::string mock;                   ///< the mock's library; empty: the installed one
  std::string log;                    ///< where the host's log goes; empty: into its directory
  std::string delay;                  ///< "5 s": how long writes wait; empty: see docs/testing.md
  bool driven_time = false;
};

void add_test_host_options(CLI::App& app, TestHostOptions& options);

/// What another program with these options is given for the same.
std::vector<std::string> words_of(const TestHostOptions& options);

}  // namespace krux::cli
