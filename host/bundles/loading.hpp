// The installed bundles at the host's start.
#pragma once

#include <filesystem>

#include "core/policy/definition_set.hpp"
#include "host/plugins/plugin_registry.hpp"

namespace krux {

struct BundleLoading {
  std::filesystem::path data_dir, bundles_dir;
  ProbeOptions probe;
  /// The default's isolation is Isolation::kProcess.
  std::function<std::optional<Isolation>(const std::string& service)> chosen;
  /// False leaves what earlier installations have left: it is for the host that owns the data directory.
  bool tidies = true;
};

/// Adds every installed bundle that is as it was pinned, with its definition; each of the others is refused with a
/// sentence and ends nothing. The plugins directory comes first: what is in `registry` and `definitions` already is not
/// replaced.
void load_bundles(const BundleLoading& loading, PluginRegistry& registry, DefinitionSet& definitions);

/// What the next start will change about the bundles that this one has loaded.
struct BundleAhead {
  std::string service, version;  ///< of the bundle that is installed, or was
  bool removed = false;
};

/// Reads the pins anew; nothing where they are damaged.
std::vector<BundleAhead> bundles_ahead(const std::filesystem::path& data_dir, const PluginRegistry& registry);

}  // namespace krux
