// The service manager that has started this process, such as systemd: it is told when the host serves, and when it
// ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krux {

/// Speaks the protocol of sd_notify: lines of NAME=value in one datagram to a Unix socket. Where no manager asks to be
/// told, nothing happens. Not for several threads.
class ServiceManager {
 public:
  /// `address`: an absolute path, or "@name" in the abstract namespace; empty: there is none.
  explicit ServiceManager(std::string address);

  /// Takes NOTIFY_SOCKET out of the environment: what this process starts does not speak for it. Before the first
  /// thread.
  static ServiceManager from_environment();

  /// It serves from now on; `status` is shown to people, in one line.
  void ready(std::string_view status);
  void reloading(std::int64_t monotonic_us);
  void stopping(std::string_view status);

  /// Why the manager could not be told the last time, as a sentence; empty: it was told, or there is none.
  const std::string& trouble() const { return trouble_; }

 private:
  void tell(const std::string& lines);

  std::string address_, trouble_;
};

}  // namespace krux
