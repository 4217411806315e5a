// A host for a test, from its ready line to its end.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/cli/control_client.hpp"
#include "host/test_host/filling.hpp"
#include "host/test_host/host_child.hpp"
#include "host/test_host/test_directory.hpp"

namespace krux {

/// One thread, the only one of its process.
class TestHost {
 public:
  /// Returns when everything that was asked for serves, is connected, and the agents have keys. Throws ConfigError,
  /// krux::Error or CliError with a sentence; then nothing is left behind.
  explicit TestHost(const cli::TestHostOptions& options);
  ~TestHost();

  /// One JSON object without line feeds; docs/testing.md has its members.
  std::string ready_json() const;
  /// Carries out one line of standard input; the answer is one JSON object.
  std::string run(const std::string& line);
  /// Why the host is not running, which nobody has asked for; empty: it runs, or was told to end.
  std::string unexpected_end();

 private:
  void start();
  void refuse_problems() const;
  void connect(const TestedService& service);
  void await_records(const TestedService& service) const;
  std::string make_agent(const std::string& name);
  std::string advance(const std::string& time);
  cli::ControlClient control() const { return cli::ControlClient(directory_.path() / "data/control.sock"); }

  const cli::TestHostOptions options_;
  const TestDirectory directory_;
  const std::filesystem::path log_;
  std::vector<TestedService> services_;
  std::map<std::string, std::string> accounts_;              ///< ids by service, of what is connected
  std::vector<std::pair<std::string, std::string>> agents_;  ///< names with keys
  std::optional<ClockTimes> clock_;
  std::unique_ptr<HostChild> child_;
  bool killed_ = false;  ///< as a line said
};

}  // namespace krux
