// The methods of prompts, and of what is offered to whoever writes a value.
#include <algorithm>

#include "core/definition/resource_parser.hpp"
#include "core/util/text.hpp"
#include "host/gateway/mcp/method_call.hpp"
#include "host/gateway/mcp/prompts.hpp"
#include "host/gateway/mcp/resources.hpp"

namespace krux::mcp {
namespace {

/// Under which the host asks for arguments, and is answered.
constexpr std::string_view kArguments = "arguments";

std::string shown(std::string_view name) {
  return printable(name.substr(0, kLongestShown));
}

RpcError no_such_prompt(std::string_view name) {
  return invalid_params(fmt::format("There is no prompt \"{}\". prompts/list shows all.", shown(name)));
}

/// Whether its client shows forms to a person.
bool shows_forms(const JsonParts& meta) {
  const auto* client = find(meta, "io.modelcontextprotocol/clientCapabilities", JsonKind::kObject);
  return client && (abilities_of(client->raw) & KRUX_ASK_FORM) != 0;
}

/// What its client's user has answered meanwhile goes to what was given. Returns whether he has, in whatever way.
std::variant<bool, RpcError> take_arguments(const JsonParts& params, PromptArguments& given) {
  const auto* responses = params.find("inputResponses");
  if (!responses || responses->kind == JsonKind::kNull) return false;
  std::string why = "no object";
  const auto all = responses->kind == JsonKind::kObject ? members(responses->raw, why) : std::nullopt;
  if (!all) return invalid_params(fmt::format("\"inputResponses\" must be an object: {}.", why));
  const auto* answer = all->find(kArguments);
  if (!answer) return false;
  auto answered = arguments_answered(*answer);
  if (auto* problem = std::get_if<std::string>(&answered)) return invalid_params(std::move(*problem));
  given.merge(std::get<PromptArguments>(answered));
  return true;
}

/// The client asks its user and sends the request anew, with what he says.
std::string asking_for(const PromptDefinition& prompt, const std::vector<const PromptArgument*>& missing) {
  return json_object([&](JsonWriter& out) {
    put_result_frame(out, "input_required");
    put_key(out, "inputRequests");
    out.StartObject();
    put_raw(out, kArguments, question_for(prompt, missing));
    out.EndObject();
  });
}

/// What is being written, and what of it.
struct Asked {
  JsonParts ref, argument;
  std::string_view name, typed;
};
std::variant<Asked, RpcError> asked_of(const JsonParts& params) {
  std::string why;
  const auto part = [&](std::string_view name) {
    const auto* found = find(params, name, JsonKind::kObject);
    return found ? members(found->raw, why) : std::nullopt;
  };
  auto ref = part("ref"), argument = part("argument");
  if (!ref || !argument)
    return invalid_params("\"ref\" and \"argument\" are needed, objects: what is written, and {name, value} of it.");
  Asked asked{*std::move(ref), *std::move(argument), {}, {}};
  const auto* name = find(asked.argument, "name", JsonKind::kString);
  const auto* value = find(asked.argument, "value", JsonKind::kString);
  if (!name || !value) return invalid_params("\"argument\" is {name, value}, both texts.");
  asked.name = name->text;
  asked.typed = value->text;
  return asked;
}

/// Where the values come from: a list, or the replica, of which `shown_by` shows them; or nowhere.
struct Source {
  std::vector<std::string> one_of;
  std::optional<ReplicaValues> from;
  std::shared_ptr<const ServiceDefinition> definition;
  const CapabilityDefinition* shown_by = nullptr;
};
using FoundSource = std::variant<Source, RpcError>;

RpcError no_such_argument(std::string_view name, std::string_view of) {
  return invalid_params(fmt::format("\"{}\" is no argument of {}.", shown(name), of));
}

const CapabilityDefinition* read_of(const ServiceDefinition& definition, const std::vector<std::string>& needs) {
  for (const auto& name : needs) {
    const auto* capability = definition.find(name);
    if (capability && capability->kind == CapabilityKind::kRead) return capability;
  }
  return nullptr;
}

FoundSource source_in_prompt(const std::vector<Offered>& offered, std::string_view name, std::string_view argument) {
  const auto found = prompt_named(offered, name);
  if (!found) return no_such_prompt(name);
  const auto& all = found->prompt->arguments;
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == argument; });
  if (at == all.end()) return no_such_argument(argument, tool_name(found->prompt->name));
  return Source{at->one_of, at->values_from, found->definition, read_of(*found->definition, found->prompt->needs)};
}

FoundSource source_in_resource(const std::vector<Offered>& offered, std::string_view uri, std::string_view argument) {
  const auto found = resource_template(offered, uri);
  if (!found)
    return invalid_params(fmt::format("There is no template \"{}\". resources/templates/list shows all.", shown(uri)));
  const auto& [resource, offer] = *found;
  const bool stands_there = resource->uri.find(fmt::format("{{{}}}", argument)) != std::string::npos;
  const auto& inputs = offer.listed.capability->inputs;
  const auto at = std::find_if(inputs.begin(), inputs.end(), [&](const auto& one) { return one.name == argument; });
  if (at == inputs.end() || !stands_there) return no_such_argument(argument, resource->uri);
  return Source{at->one_of, at->values_from, offer.listed.definition, offer.listed.capability};
}

FoundSource source_of(const std::vector<Offered>& offered, const Asked& asked) {
  const auto* type = find(asked.ref, "type", JsonKind::kString);
  const auto* name = find(asked.ref, "name", JsonKind::kString);
  const auto* uri = find(asked.ref, "uri", JsonKind::kString);
  if (type && type->text == "ref/prompt" && name) return source_in_prompt(offered, name->text, asked.name);
  if (type && type->text == "ref/resource" && uri) return source_in_resource(offered, uri->text, asked.name);
  return invalid_params(
      "\"ref\" is {\"type\": \"ref/prompt\", \"name\": …} or {\"type\": \"ref/resource\", \"uri\": …}.");
}

void put_completion(JsonWriter& out, const Completion& completion) {
  put_key(out, "completion");
  out.StartObject();
  put(out, "values", completion.values);
  if (!completion.total_is_lower_bound) put(out, "total", static_cast<std::int64_t>(completion.total));
  put(out, "hasMore", completion.has_more());
  out.EndObject();
}

}  // namespace

RpcOutcome Methods::list_prompts(const Call& call) {
  return list_whole(call, "prompts", [&] { return prompts_json(api_.offered(call.caller->agent.name), knows()); });
}

RpcOutcome Methods::get_prompt(const Call& call) {
  const auto* name = find(call.params, "name", JsonKind::kString);
  if (!name) return invalid_params("\"name\" is missing: the prompt's name.");
  const auto offered = api_.offered(call.caller->agent.name);
  const auto found = prompt_named(offered, name->text);
  if (!found) return no_such_prompt(name->text);
  const auto& prompt = *found->prompt;
  auto taken = prompt_arguments(call.params.find("arguments"));
  if (auto* why = std::get_if<std::string>(&taken)) return invalid_params(std::move(*why));
  auto given = std::get<PromptArguments>(std::move(taken));
  auto answered = call.stateless ? take_arguments(call.params, given) : false;
  if (auto* why = std::get_if<RpcError>(&answered)) return std::move(*why);
  if (auto why = why_not_arguments(prompt, given); !why.empty()) return invalid_params(std::move(why));
  const auto missing = missing_arguments(prompt, given);
  // Who has been asked, and did not say, is not asked again.
  const bool may_ask = call.stateless && !std::get<bool>(answered) && shows_forms(call.meta);
  if (!missing.empty() && may_ask) return asking_for(prompt, missing);
  if (!missing.empty())
    return invalid_params(fmt::format("\"{}\" is missing: {}", missing[0]->name, missing[0]->description));
  return call.result([&](JsonWriter& out) { put_prompt(out, prompt, given, knows()); });
}

void Methods::complete(const Call& call) {
  const auto asked = asked_of(call.params);
  if (const auto* error = std::get_if<RpcError>(&asked)) return call.reply(*error);
  const auto& [ref, argument, name, typed] = std::get<Asked>(asked);
  auto source = source_of(api_.offered(call.caller->agent.name), std::get<Asked>(asked));
  if (auto* error = std::get_if<RpcError>(&source)) return call.reply(std::move(*error));
  auto& from = std::get<Source>(source);
  const auto answer = [reply = call.reply, stateless = call.stateless](const Completion& completion) {
    reply(json_object([&](JsonWriter& out) {
      if (stateless) put_result_frame(out);
      put_completion(out, completion);
    }));
  };
  if (!from.from) return answer(completion_of(std::move(from.one_of), typed));
  ValuesWanted wanted{{}, from.definition, from.shown_by, *from.from, std::string(typed)};
  const auto refused = agents_.values(call.caller, std::move(wanted),
                                      [answer, reply = call.reply](const std::variant<Completion, Error>& found) {
                                        const auto* completion = std::get_if<Completion>(&found);
                                        if (completion) return answer(*completion);
                                        reply(rpc_error(std::get<Error>(found)));
                                      });
  if (refused) call.reply(rpc_error(*refused));
}

}  // namespace krux::mcp
