// `inputs` of a capability, and what they have in common with its outputs. Internal to the parsers of definitions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

std::vector<InputDefinition> parse_inputs(const YamlValue& value);
/// Beside what each input is: rules of several, which the host checks and shows as they are.
std::shared_ptr<const JsonSchema> parse_input_schema(const YamlValue& value);

InputType parse_type(const YamlValue& value);
/// `what` it is a name for.
std::string parse_name(const YamlValue& value, const char* what);
/// Refuses `key` unless the input or output has one of the types that it is for.
std::optional<YamlValue> find_for(const YamlMap& map, const char* key, bool fits, const char* types);

}  // namespace krux
