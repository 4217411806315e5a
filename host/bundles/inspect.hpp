// Whether a bundle in a directory is fit to be installed or loaded.
#pragma once

#include <filesystem>

#include "core/bundle/contents.hpp"
#include "host/plugins/inspection.hpp"

namespace krux {

struct InspectedBundle {
  BundleContents contents;
  PluginReport report;  ///< of its library; passed
};

/// Every check of a plugin's file and of the bundle's other files, and that they speak of the same adapter. With `pins`
/// nothing may have changed, and nothing of a library that has is run. The library is loaded by the probe's process
/// alone. Blocks for as long as that takes. `shown` stands in the sentences for the directory; empty: itself. Throws
/// ConfigError.
InspectedBundle inspect_bundle(const std::filesystem::path& directory, const FileHashes* pins,
                               const ProbeOptions& probe, const std::filesystem::path& shown = {});

/// Throws ConfigError where another adapter has the bundle's service or prefix: a bundle takes nobody's place.
void refuse_taken(const ServiceDefinition& bundle, const std::vector<std::shared_ptr<const ServiceDefinition>>& others);

}  // namespace krux
