// The `oauth:` section of a definition.
#pragma once

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with the place. The definition's capabilities are known already.
OAuthDefinition parse_oauth(const YamlValue& value, const ServiceDefinition& definition);

}  // namespace krux
