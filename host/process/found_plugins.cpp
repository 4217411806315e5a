#include "host/process/found_plugins.hpp"

#include <spdlog/spdlog.h>

#include "host/bundles/loading.hpp"

namespace krux {
namespace {

PluginRegistration registration(const Config& config, Finding finding) {
  PluginRegistration registration;
  if (finding == Finding::kToCheck) {
    registration.isolation = Isolation::kProcess;
    return registration;
  }
  registration.chosen = [&config](const std::string& service) -> std::optional<Isolation> {
    const auto at = config.services.find(service);
    return at == config.services.end() ? std::nullopt : at->second.isolation;
  };
  return registration;
}

void tell_of_bundle(const PluginInfo& bundle, AlertStore& alerts) {
  if (bundle.state != PluginInfo::State::kLoaded) {
    alerts.raise({"critical", "bundle_refused", bundle.service, "", "", bundle.reason, true});
  } else if (bundle.isolation == Isolation::kInProcess) {
    spdlog::warn(
        "the bundle of {0} runs in the host's process, as services.{0}.isolation says: its code can do what the host "
        "can",
        bundle.service);
  }
}

}  // namespace

PluginRegistry find_plugins(const Config& config, DefinitionSet& definitions, const DefinitionIndex& index,
                            Finding finding) {
  const auto registered = registration(config, finding);
  InspectOptions inspect{{}, &index};
  // Who can put a file there can have it run in the host's own process: a kernel that cannot confine it is a warning.
  inspect.probe.confinement.required = false;
  auto plugins = PluginRegistry::discover(config.plugins_dir, inspect, registered);
  load_bundles({config.data_dir, config.bundles_dir, {}, registered.chosen, finding == Finding::kToServe}, plugins,
               definitions);
  return plugins;
}

void log_refusals(const DefinitionSet& definitions, const PluginRegistry& plugins, AlertStore& alerts) {
  alerts.settle("bundle_refused");
  for (const auto& problem : definitions.problems())
    problem.refuses ? spdlog::error("definition refused: {}", problem.reason) : spdlog::warn("{}", problem.reason);
  for (const auto& service : definitions.under_policies()) spdlog::info("policy of {} in force", service);
  for (const auto& plugin : plugins.all()) {
    if (plugin.origin == PluginInfo::Origin::kBundle) tell_of_bundle(plugin, alerts);
    if (plugin.state == PluginInfo::State::kLoaded) {
      spdlog::info("adapter {} {} loaded from {}", plugin.service, plugin.version, plugin.file.string());
      if (plugin.mock)
        spdlog::warn(
            "{} is a mock: what agents are told of {} is what its script says, and nothing reaches the service",
            plugin.file.string(), plugin.service);
    } else if (plugin.origin == PluginInfo::Origin::kBundle) {  // its reason names the file that is not as it was
      spdlog::warn("bundle refused: {}", plugin.reason);
    } else {
      spdlog::warn("adapter refused: {}: {}", plugin.file.string(), plugin.reason);
    }
  }
}

}  // namespace krux
