// A definition's prompts as those of the Model Context Protocol.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/capability/catalogue.hpp"
#include "core/definition/prompt_parser.hpp"
#include "core/util/json_out.hpp"
#include "host/gateway/json_span.hpp"
#include "host/gateway/mcp/tool_names.hpp"

namespace krux::mcp {

/// With the definition that it stands in.
struct OfferedPrompt {
  std::shared_ptr<const ServiceDefinition> definition;
  const PromptDefinition* prompt;
};
/// Those of services of which something is offered, and all of what they need.
std::vector<OfferedPrompt> offered_prompts(const std::vector<Offered>& offered);
/// As capability_named().
std::optional<OfferedPrompt> prompt_named(const std::vector<Offered>& offered, std::string_view name);

/// The `prompts` of a prompts/list: one JSON array.
std::string prompts_json(const std::vector<Offered>& offered, const Knows& knows);

/// A request's `arguments`, texts by their names; or a sentence that says what they must be. `span` may be null.
std::variant<PromptArguments, std::string> prompt_arguments(const JsonSpan* span);

/// "description" and "messages" of a prompts/get. The definition's words name tools; what was given stays as it is.
void put_prompt(JsonWriter& out, const PromptDefinition& prompt, const PromptArguments& given, const Knows& knows);

/// The request that asks the client's user for them, as one of `inputRequests`: one JSON object.
std::string question_for(const PromptDefinition& prompt, const std::vector<const PromptArgument*>& missing);
/// What he has answered, one of `inputResponses`; or a sentence that says why that is nothing to go on with.
std::variant<PromptArguments, std::string> arguments_answered(const JsonSpan& answer);

}  // namespace krux::mcp
