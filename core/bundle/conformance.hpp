// The manifest's section `conformance:`.
#pragma once

#include "core/bundle/manifest.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with file, line and column.
BundleConformance parse_conformance(const YamlValue& value);

}  // namespace krux
