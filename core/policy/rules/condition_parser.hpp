// One entry of a rule's `when`.
#pragma once

#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// `facts` may be null: there are none. Throws ConfigError with the place.
RuleCondition parse_condition(const YamlValue& value, const FactSource* facts);

}  // namespace krux
