// A host process with the Gmail adapter and an emulated mailbox behind it. Time stands still in both until it is moved,
// and moves on when both have done all that they had to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/bench_host.hpp"
#include "support/gmail_emulator.hpp"

namespace krux::bench {

/// Of services.gmail, indented by four blanks: the emulator and its provider of tokens.
std::string mail_settings(const test::GmailEmulator& gmail);
/// Connects its mailbox as a person with a browser would.
void connect_mail(const BenchHost& host);

/// One thread. Failures are wrong().
class MailHost : public BenchHost {
 public:
  /// Everything lies below `directory`. The mailbox takes `units_per_minute` of requests, as Google counts them.
  MailHost(const std::filesystem::path& directory, std::int64_t units_per_minute);

  test::GmailEmulator& gmail() { return gmail_; }
  void start();
  void connect();  ///< the first sync begins

  void advance(std::int64_t ms);
  std::int64_t driven_ms() const { return driven_ms_; }

  struct Sync {
    std::int64_t messages = 0;
    bool done = false;
    std::string problem;  ///< of the last step; empty: none
  };
  Sync sync() const;
  ProcessFigures gmail_figures() { return process_figures(gmail_.process().pid()); }

 private:
  void settle();

  test::GmailEmulator gmail_;
  std::int64_t driven_ms_ = 0;
};

}  // namespace krux::bench
