// `limits` and `on_exceed`, as definitions and policies have them.
#pragma once

#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with the place. `definition` has its capabilities.
std::vector<Limit> parse_limits(const YamlValue& value, const ServiceDefinition& definition);

/// Whether a person is asked about what exceeds a limit; otherwise it is refused.
bool parse_on_exceed(const YamlValue& value);

}  // namespace krux
