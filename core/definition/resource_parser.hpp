// `resources` of a definition: reads that a model's program finds under addresses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with the place. `definition` has its capabilities.
std::vector<ResourceDefinition> parse_resources(const YamlValue& value, const ServiceDefinition& definition);

/// The inputs that stand in `uri` in the places that `address` gives them, percent-decoded; nothing where it is none of
/// that address. An input is what stands to the next character of the address, is not empty, and has no "/".
using ResourceInputs = std::vector<std::pair<std::string, std::string>>;
std::optional<ResourceInputs> match_resource(std::string_view address, std::string_view uri);

/// Whether an address has places for inputs.
bool has_inputs(std::string_view address);

}  // namespace krux
