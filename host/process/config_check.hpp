// What a configuration names, against what there is: services, their operations, the adapters' own settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/definition/definition.hpp"
#include "host/plugins/plugin_registry.hpp"

namespace krux {

/// By the definitions' files and the installed bundles, whether they can be used now or not.
struct KnownServices {
  std::vector<std::string> names;
  bool are_all = true;  ///< false: which bundles are installed cannot be read
};
KnownServices known_services(const Config& config);

struct ConfigSurroundings {
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions;  ///< that can be used
  KnownServices known;
  const PluginRegistry& plugins;
};

/// Throws ConfigError, with the line that puts it there, for a key of the vault or the audit log inside the data, the
/// bundles or the plugins directory, for heads of the log inside the data directory, and for two of these in one file.
void check_paths(const Config& config);

/// Throws ConfigError for what the start could not read or make: certificates, the authorities' file, the directories
/// of data and keys. It makes nothing.
void check_files(const Config& config);

/// Throws ConfigError for the first service, operation of write_buffer.delays or setting of an adapter that there is
/// not, with its line and what was probably meant. A typo there would take a window or a limit away without a word. Of
/// what cannot be known now nothing is refused.
void check_names(const Config& config, const ConfigSurroundings& around);

}  // namespace krux
