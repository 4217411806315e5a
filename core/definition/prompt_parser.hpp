// `prompts` of a definition, and the texts that arguments make of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// Throws ConfigError with the place. `definition` has its capabilities.
std::vector<PromptDefinition> parse_prompts(const YamlValue& value, const ServiceDefinition& definition);

/// `{collection, member}` of `values_from`.
ReplicaValues parse_replica_values(const YamlValue& value);

/// What was given, by the argument's name.
using PromptArguments = std::map<std::string, std::string, std::less<>>;

/// Empty when the arguments are what the prompt takes but for those that are missing; otherwise a sentence.
std::string why_not_arguments(const PromptDefinition& prompt, const PromptArguments& given);
/// The required ones that were not given.
std::vector<const PromptArgument*> missing_arguments(const PromptDefinition& prompt, const PromptArguments& given);

/// The template with each argument's own text in its place; `own` makes the definition's texts what they are to be.
std::string filled(const TextTemplate& text, const PromptDefinition& prompt, const PromptArguments& given,
                   const std::function<std::string(std::string_view)>& own);

}  // namespace krux
