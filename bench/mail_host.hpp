// A host process with the Gmail adapter and an emulated mailbox behind it. Time stands still in both until it is moved,
// and moves on when both have done all that they had to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/process_figures.hpp"
#include "core/util/json.hpp"
#include "support/gmail_emulator.hpp"
#include "support/process.hpp"

namespace krux::bench {

/// One thread. Failures are wrong().
class MailHost {
 public:
  /// Everything lies below `directory`. The mailbox takes `units_per_minute` of requests, as Google counts them.
  MailHost(const std::filesystem::path& directory, std::int64_t units_per_minute);

  test::GmailEmulator& gmail() { return gmail_; }
  void start();
  void connect();  ///< the first sync begins
  std::string new_agent();
  std::uint16_t port() const { return port_; }

  void advance(std::int64_t ms);
  std::int64_t driven_ms() const { return driven_ms_; }

  struct Sync {
    std::int64_t messages = 0;
    bool done = false;
    std::string problem;  ///< of the last step; empty: none
  };
  Sync sync() const;
  ProcessFigures host_figures() const { return process_figures(host_->pid()); }
  ProcessFigures gmail_figures() { return process_figures(gmail_.process().pid()); }
  void stop();

 private:
  JsonDocument operate(const std::string& verb, const std::string& path, const std::string& body = "") const;
  void settle();

  const std::filesystem::path directory_;
  test::GmailEmulator gmail_;
  std::unique_ptr<test::Process> host_;
  std::uint16_t port_ = 0;
  std::int64_t driven_ms_ = 0;
};

}  // namespace krux::bench
