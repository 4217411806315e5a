// The `capabilities:` section of a definition.
#pragma once

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with the place. `prefix` is what their names must begin with.
std::vector<CapabilityDefinition> parse_capabilities(const YamlValue& value, const std::string& prefix);

/// Inputs that every capability has without naming them: the host adds and reads them.
const std::vector<std::string>& host_inputs();

/// The inputs of every capability that cancels a write.
std::vector<InputDefinition> cancel_inputs();

}  // namespace krux
