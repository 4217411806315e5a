// Which adapters and bundles there are, and what is said of them.
#pragma once

#include "core/config/config.hpp"
#include "core/policy/definition_set.hpp"
#include "core/write/alerts.hpp"
#include "host/plugins/plugin_registry.hpp"

namespace krux {

enum class Finding {
  kToServe,
  kToCheck,  ///< nothing of an adapter runs in this process, and a host may own the data directory
};

/// The plugins directory first: no bundle replaces what is in it.
PluginRegistry find_plugins(const Config& config, DefinitionSet& definitions, const DefinitionIndex& index,
                            Finding finding);
/// To the log, and of bundles to the operator.
void log_refusals(const DefinitionSet& definitions, const PluginRegistry& plugins, AlertStore& alerts);

}  // namespace krux
