// The runners of all services whose adapters have a process of their own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "host/plugins/abi_bridge/log_limit.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/adapter_runner.hpp"

namespace krux {

/// Any thread.
class AdapterRunners {
 public:
  struct Options {
    std::filesystem::path program;  ///< kruxos-plugin-runner; empty: beside the running program or in ../libexec/kruxos
    std::map<std::string, RunnerLimits> limits;  ///< by service; the default's where one is missing
    AdapterLog log = default_adapter_log();
    std::int64_t hello_timeout_ms = 10'000;
    IdleAllowance idle_allowance{};
    int landlock_abi = Confinement{}.landlock_abi;
    LogAllowance log_allowance{};
  };
  /// Starts nothing yet. `clock` and what `alerts` uses outlive it and every call.
  AdapterRunners(const PluginRegistry& registry, Clock& clock, const Options& options, const RunnerAlerts& alerts);
  ~AdapterRunners();  ///< stop()

  /// nullptr: the adapter of that service runs in the host's process, or there is none.
  std::shared_ptr<AdapterRunner> find(const std::string& service) const;

  /// Ends all processes, asked first, killed after `grace_ms` of real time in all. False: a request that an adapter had
  /// sent is still under way. Idempotent.
  bool stop(std::int64_t grace_ms);

 private:
  const std::shared_ptr<LogLimit> log_;
  std::map<std::string, std::shared_ptr<AdapterRunner>> runners_;
  std::shared_ptr<HelperThreads> helpers_ = std::make_shared<HelperThreads>();
};

}  // namespace krux
