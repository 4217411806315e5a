#include "host/runner/adapter_runners.hpp"

#include <algorithm>
#include <chrono>

#include "host/plugins/probe.hpp"

namespace krux {

AdapterRunners::AdapterRunners(const PluginRegistry& registry, Clock& clock, Options options,
                               const RunnerAlerts& alerts) {
  const auto program = options.program.empty() ? find_helper("kruxos-plugin-runner") : options.program;
  for (const auto& plugin : registry.all()) {
    if (plugin.state != PluginInfo::State::kLoaded || plugin.isolation != Isolation::kProcess) continue;
    RunnerLaunch launch{program,       plugin.file,    plugin.service,           plugin.prefix, plugin.version,
                        plugin.sha256, RunnerLimits{}, options.hello_timeout_ms, options.log};
    const auto limits = options.limits.find(plugin.service);
    if (limits != options.limits.end()) launch.limits = limits->second;
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
