// The Slack adapter's host, with an emulated workspace behind it.
#pragma once

#include <filesystem>

#include "bench/bench_host.hpp"
#include "support/slack_emulator.hpp"

namespace krux::bench {

/// One thread. Failures are wrong().
class HostRig : public BenchHost {
 public:
  /// Everything lies below `directory`.
  explicit HostRig(const std::filesystem::path& directory);
  /// With further services, each as the configuration has it below `services`.
  HostRig(const std::filesystem::path& directory, const std::string& further);

  test::SlackEmulator& slack() { return slack_; }

  /// Milliseconds from the start of the process to its line "ready".
  double start(int workers);
  void connect();  ///< the first sync begins
  /// Returns when the sync has completed a pass and rests, with `messages` messages in the replica.
  void await_sync(std::int64_t messages);
  /// Of the only account of that service.
  std::filesystem::path replica(const std::string& service = "slack") const;

 private:
  test::SlackEmulator slack_;
};

}  // namespace krux::bench
