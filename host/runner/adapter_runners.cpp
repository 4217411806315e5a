#include "host/runner/adapter_runners.hpp"

#include <algorithm>
#include <chrono>

#include "host/plugins/probe.hpp"
#include "host/runner/mock_journal.hpp"

namespace krux {

namespace {

Confinement confinement_of(const PluginInfo& plugin, const AdapterRunners::Options& options) {
  const auto found = options.limits.find(plugin.service);
  const auto limits = found == options.limits.end() ? RunnerLimits{} : found->second;
  Confinement confinement;
  confinement.required = plugin.origin == PluginInfo::Origin::kBundle;
  confinement.memory_mb = limits.memory_mb;
  confinement.open_files = limits.open_files;
  confinement.landlock_abi = options.landlock_abi;
  return confinement;
}

}  // namespace

AdapterRunners::AdapterRunners(const PluginRegistry& registry, Clock& clock, const Options& options,
                               const RunnerAlerts& alerts)
    : log_(std::make_shared<LogLimit>(options.log, options.log_allowance)) {
  const auto program = options.program.empty() ? find_helper("kruxos-plugin-runner") : options.program;
  for (const auto& plugin : registry.all()) {
    if (plugin.state != PluginInfo::State::kLoaded || plugin.isolation != Isolation::kProcess) continue;
    RunnerLaunch launch{program,
                        plugin.file,
                        plugin.service,
                        plugin.prefix,
                        plugin.version,
                        plugin.sha256,
                        confinement_of(plugin, options)};
    launch.hello_timeout_ms = options.hello_timeout_ms;
    launch.idle_allowance = options.idle_allowance;
    launch.log = LogLimit::log_of(log_);
    if (plugin.mock && plugin.origin == PluginInfo::Origin::kDirectory)
      launch.log = with_mock_journal(plugin.file, std::move(launch.log));
    launch.look_at_log = [log = log_] { log->look(); };
    runners_[plugin.service] = std::make_shared<AdapterRunner>(std::move(launch), clock, alerts, helpers_);
  }
}

AdapterRunners::~AdapterRunners() {
  stop(0);
}

std::shared_ptr<AdapterRunner> AdapterRunners::find(const std::string& service) const {
  const auto found = runners_.find(service);
  return found == runners_.end() ? nullptr : found->second;
}

bool AdapterRunners::stop(std::int64_t grace_ms) {
  using Time = std::chrono::steady_clock;
  const auto until = Time::now() + std::chrono::milliseconds(grace_ms);
  for (const auto& [service, runner] : runners_) runner->ask_to_stop();
  for (const auto& [service, runner] : runners_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Time::now()).count();
    runner->stop(std::max<std::int64_t>(left, 0));
  }
  return helpers_->wait_until_idle(std::chrono::milliseconds(std::max<std::int64_t>(grace_ms, 1)));
}

}  // namespace krux
