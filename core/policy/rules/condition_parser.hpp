// One entry of a rule's `when`.
#pragma once

#include <string_view>

#include "core/policy/rules/rule.hpp"
#include "core/policy/rules/rule_parser.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with the place.
RuleCondition parse_condition(const YamlValue& value, const RuleSubjects& subjects);

/// Throws ConfigError unless the pattern has one "*" at most, at its beginning or its end.
void check_pattern(const YamlValue& value, std::string_view pattern);

}  // namespace krux
