// The whole host, put together: what main() starts and stops.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/config/config.hpp"
#include "core/util/clock.hpp"

namespace krux {

/// Built in the order of its dependencies, torn down in the other. One a process.
class HostProcess {
 public:
  /// Opens everything and serves. Throws ConfigError or krux::Error with a sentence for the operator; then nothing was
  /// changed but what an orderly start changes.
  HostProcess(Config config, Clock& clock);
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  /// "ready http://127.0.0.1:7700 ...": what is printed when the host serves.
  const std::string& ready_line() const;

  /// Reads definitions again; a broken file keeps the old one and raises an alert.
  void reload();

  /// No new work; what is under way is finished or left to the ledger. Returns within `limit_ms`. False: an adapter's
  /// code has not returned and may still touch the host, so that the process should end without tearing it down.
  bool stop(std::int64_t limit_ms);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// What `--check-config` says: throws ConfigError for the first thing that would keep the host from starting, or from
/// loading a definition or an installed bundle. It finds adapters and definitions as the start does, loads nothing of
/// an adapter into this process, and writes nothing.
void check_configuration(const Config& config);

}  // namespace krux
