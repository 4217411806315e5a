// A host process of this build with the Slack adapter, an emulated workspace behind it, and an operator.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/util/json.hpp"
#include "support/process.hpp"
#include "support/slack_emulator.hpp"

namespace krux::bench {

/// One thread. Failures are wrong().
class HostRig {
 public:
  /// Everything lies below `directory`.
  explicit HostRig(const std::filesystem::path& directory);

  test::SlackEmulator& slack() { return slack_; }

  /// Milliseconds from the start of the process to its line "ready".
  double start(int workers);
  void stop();
  void connect();  ///< the first sync begins
  /// Returns when the sync has completed a pass and rests, with `messages` messages in the replica.
  void await_sync(std::int64_t messages);
  std::string new_agent();    ///< its key
  double private_mb() const;  ///< RssAnon of the process: memory that is the host's own, not the page cache's

  std::uint16_t port() const { return port_; }
  std::filesystem::path ledger() const { return directory_ / "data/kruxos.db"; }
  std::filesystem::path replica() const;
  std::filesystem::path adapters() const { return directory_ / "adapters"; }

 private:
  JsonDocument operate(const std::string& verb, const std::string& path, const std::string& body = "") const;

  const std::filesystem::path directory_;
  test::SlackEmulator slack_;
  std::unique_ptr<test::Process> host_;
  std::uint16_t port_ = 0;
};

}  // namespace krux::bench
