#include "host/gateway/mcp/tools.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/json_schema.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "host/gateway/mcp/content.hpp"

namespace krux::mcp {
namespace {

const char* json_type(InputType type) {
  switch (type) {
    case InputType::kInteger:
      return "integer";
    case InputType::kNumber:
      return "number";
    case InputType::kBoolean:
      return "boolean";
    case InputType::kArray:
      return "array";
    case InputType::kObject:
      return "object";
    case InputType::kString:
    case InputType::kDateTime:
    case InputType::kAny:
      break;
  }
  return "string";
}

template <class Number>
void put_bound(JsonWriter& out, std::string_view name, const std::optional<Number>& bound) {
  if (bound) put(out, name, static_cast<std::int64_t>(*bound));
}

/// What a schema is made with: the names in its texts are tools.
struct Tools {
  JsonWriter& out;
  const Knows& knows;

  void describe(const std::string& description) const {
    if (!description.empty()) put(out, "description", with_tool_names(description, knows));
  }
};

void put_type(JsonWriter& out, const InputDefinition& value) {
  if (value.type == InputType::kAny) return;  // a schema without a type lets everything in
  put_key(out, "type");
  if (!value.nullable) return put_text(out, json_type(value.type));
  out.StartArray();
  put_text(out, json_type(value.type));
  put_text(out, "null");
  out.EndArray();
}

void put_value(const Tools& tools, const InputDefinition& value) {  // NOLINT(misc-no-recursion)
  auto& out = tools.out;
  put_type(out, value);
  if (value.type == InputType::kDateTime) put(out, "format", "date-time");
  tools.describe(value.description);
  if (!value.one_of.empty()) put(out, "enum", value.one_of);
  if (value.default_json) put_raw(out, "default", *value.default_json);
  put_bound(out, "minimum", value.minimum);
  put_bound(out, "maximum", value.maximum);
  const bool is_list = value.type == InputType::kArray;
  put_bound(out, is_list ? "minItems" : "minLength", value.min_length);
  put_bound(out, is_list ? "maxItems" : "maxLength", value.max_length);
  if (!value.header.empty()) put(out, "x-mcp-header", value.header);
  if (value.items.empty()) return;
  put_key(out, "items");
  out.StartObject();
  put_value(tools, value.items[0]);
  out.EndObject();
}

/// What the inputs must be together, beside what each of them is.
void put_rules(JsonWriter& out, const JsonSchema& schema) {
  put(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
  for (const auto& member : schema.document().GetObject()) put_raw(out, view(member.name), to_json(member.value));
}

void put_input_schema(const Tools& tools, const Offered& offered) {
  auto& out = tools.out;
  const auto inputs = all_inputs(offered, WriteNames::kOne);
  put_key(out, "inputSchema");
  out.StartObject();
  put(out, "type", "object");
  put_key(out, "properties");
  out.StartObject();
  std::vector<std::string> required;
  for (const auto& input : inputs) {
    // A model has no use for a key: the same call again is the same write without one.
    if (input.name == "idempotency_key" || (input.name == "account" && !offered.several_accounts)) continue;
    put_key(out, input.name);
    out.StartObject();
    put_value(tools, input);
    out.EndObject();
    if (input.required) required.push_back(input.name);
  }
  out.EndObject();
  if (!required.empty()) put(out, "required", required);
  put(out, "additionalProperties", false);
  if (const auto& schema = offered.listed.capability->schema) put_rules(out, *schema);
  out.EndObject();
}

void put_properties(const Tools& tools, const std::vector<OutputDefinition>& outputs);

void put_output(const Tools& tools, const OutputDefinition& output) {  // NOLINT(misc-no-recursion)
  auto& out = tools.out;
  out.StartObject();
  if (output.type != InputType::kAny) put(out, "type", json_type(output.type));
  if (output.type == InputType::kDateTime) put(out, "format", "date-time");
  tools.describe(output.description);
  if (!output.fields.empty()) put_properties(tools, output.fields);
  if (!output.items.empty()) {
    put_key(out, "items");
    put_output(tools, output.items[0]);
  }
  out.EndObject();
}

void put_properties(const Tools& tools, const std::vector<OutputDefinition>& outputs) {  // NOLINT(misc-no-recursion)
  put_key(tools.out, "properties");
  tools.out.StartObject();
  for (const auto& output : outputs) {
    put_key(tools.out, output.name);
    put_output(tools, output);
  }
  tools.out.EndObject();
}

/// Further members may come: what the host adds to a read, what an execution adds to a write.
void put_output_schema(const Tools& tools, const Offered& offered) {
  auto outputs = all_outputs(offered, WriteNames::kOne);
  std::erase_if(outputs, [](const OutputDefinition& output) { return output.content.has_value(); });
  if (outputs.empty()) return;
  put_key(tools.out, "outputSchema");
  tools.out.StartObject();
  put(tools.out, "type", "object");
  put_properties(tools, outputs);
  tools.out.EndObject();
}

void put_annotations(JsonWriter& out, const Offered& offered) {
  const auto& c = *offered.listed.capability;
  const bool reads = c.kind == CapabilityKind::kRead;
  put_key(out, "annotations");
  out.StartObject();
  put(out, "readOnlyHint", reads);
  // Of what only reads the protocol gives these no meaning.
  if (!reads) {
    put(out, "destructiveHint", c.kind != CapabilityKind::kCancel && c.destructive);
    put(out, "idempotentHint", c.harmless_to_repeat || c.kind == CapabilityKind::kCancel);
  }
  // It is true where nothing is said.
  if (is_hosts_own(offered.listed)) put(out, "openWorldHint", false);
  out.EndObject();
}

void put_tool(const Tools& tools, const Offered& offered) {
  auto& out = tools.out;
  const auto& c = *offered.listed.capability;
  out.StartObject();
  put(out, "name", tool_name(c.name));
  put(out, "title",
      c.purpose.ends_with('.') ? std::string_view(c.purpose).substr(0, c.purpose.size() - 1)
                               : std::string_view(c.purpose));
  tools.describe(description_of(offered));
  put_input_schema(tools, offered);
  put_output_schema(tools, offered);
  put_annotations(out, offered);
  if (offered.listed.tier() != Tier::kAutonomous) {
    put_key(out, "_meta");
    out.StartObject();
    put(out, "kruxos/tier", to_string(offered.listed.tier()));
    out.EndObject();
  }
  out.EndObject();
}

/// The other writes that a limit counts as well, in one order of all limits. Commas stand between limits.
std::string together_with(std::vector<std::string> operations, const std::string& name) {
  std::erase(operations, name);
  std::sort(operations.begin(), operations.end());
  return operations.empty() ? "" : fmt::format(" with {}", fmt::join(operations, " and "));
}

std::string limits_in_words(const Offered& offered) {
  const auto& definition = *offered.listed.definition;
  const auto& name = offered.listed.capability->name;
  std::vector<std::string> all, others;
  for (const auto& limit : definition.limits) {
    const auto& operations = limit.operations;
    if (std::find(operations.begin(), operations.end(), name) == operations.end()) continue;
    all.push_back(fmt::format("{} in {}{}", limit.limit, span_in_words(limit.window_ms),
                              limit.key.empty() ? "" : " for each " + limit.key));
    others.push_back(together_with(operations, name));
  }
  if (all.empty()) return {};
  // Most count the same writes: that is said once.
  const bool alike = std::all_of(others.begin(), others.end(), [&](const auto& each) { return each == others[0]; });
  for (std::size_t i = 0; i < all.size() && !alike; ++i) all[i] += others[i];
  return fmt::format(" At most {}{}; more {}.", fmt::join(all, ", "), alike ? others[0] : "",
                     definition.escalate_on_exceed ? "wait for a person" : "are refused");
}

std::string write_in_words(const Offered& offered) {
  const auto& c = *offered.listed.capability;
  std::string text;
  if (offered.listed.tier() == Tier::kApprovalRequired) text += " Waits until a person approves it.";
  if (offered.delay_ms == 0) {
    text += " Done at once.";
  } else {
    text += fmt::format(" Waits {}; until then proxy__cancel_write takes it back.", span_in_words(offered.delay_ms));
  }
  text += c.undoable ? " Can be undone with proxy__rollback." : " Cannot be undone.";
  return text + limits_in_words(offered);
}

/// The address itself is no model's to hand on: people are told to follow none that an agent gives them.
std::string with_way_to_page(const std::string& error_json) {
  auto error = parse_json(error_json, "the error", {64 << 20, 64});
  if (find_string(error, "type") != ErrorType(ErrorCode::kApprovalRequired).name()) return error_json;
  const auto message = fmt::format(
      "{} Waiting for it by proxy.write_status with wait_seconds leads your user to the page where it is "
      "decided.",
      find_string(error, "message").value_or(""));
  error["message"].SetString(message, error.GetAllocator());
  return to_json(error);
}

}  // namespace

void put_server_info(JsonWriter& out, std::string_view name) {
  put_key(out, name);
  out.StartObject();
  put(out, "name", "kruxos");
  put(out, "title", "KruxOS");
  put(out, "version", KRUXOS_VERSION);
  out.EndObject();
}

void put_result_frame(JsonWriter& out, std::string_view type) {
  put(out, "resultType", type);
  put_key(out, "_meta");
  out.StartObject();
  put_server_info(out, "io.modelcontextprotocol/serverInfo");
  out.EndObject();
}

void put_result_meta(JsonWriter& out, const InvocationResult& result, const ResultForm& form) {
  if (!form.stateless && !result.read_of) return;
  put_key(out, "_meta");
  out.StartObject();
  if (form.stateless) put_server_info(out, "io.modelcontextprotocol/serverInfo");
  if (result.read_of && !form.labels_key.empty()) {
    put_key(out, form.labels_key);
    out.StartObject();
    put(out, "integrity", "untrusted");
    put(out, "confidentiality", to_string(*result.read_of));
    out.EndObject();
  }
  out.EndObject();
}

std::string tool_result(const InvocationResult& result, const ResultForm& form) {
  const auto error = [&] { return form.leads_to_page ? with_way_to_page(result.error_json) : result.error_json; };
  const auto shown = result.success ? content_of(result.data_json, result.content)
                                    : ToolContent{with_tool_names(error(), form.knows), {}};
  const auto& json = shown.values_json;
  return json_object([&](JsonWriter& out) {
    if (form.stateless) put(out, "resultType", "complete");
    put_result_meta(out, result, form);
    put_key(out, "content");
    out.StartArray();
    // What was asked for comes first, then what is known of it.
    for (const auto& part : shown.parts) out.RawValue(part.data(), part.size(), rapidjson::kObjectType);
    out.StartObject();
    put(out, "type", "text");
    put(out, "text", json);
    out.EndObject();
    out.EndArray();
    if (result.success) put_raw(out, "structuredContent", json);
    put(out, "isError", !result.success);
  });
}

std::string description_of(const Offered& offered) {
  const auto& c = *offered.listed.capability;
  auto text = c.when_to_use.empty() ? c.purpose : c.when_to_use;
  if (!c.one_input_of.empty()) text += fmt::format(" Give {}.", one_input_in_words(c.one_input_of));
  if (c.takes_long != TakesLong::kNo)
    text += fmt::format(" May take {}.", span_in_words(offered.listed.definition->call_timeout_ms));
  if (c.kind == CapabilityKind::kWrite) text += write_in_words(offered);
  return text;
}

std::string tools_json(const std::vector<Offered>& offered, const Knows& knows) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartArray();
  for (const auto& one : offered) put_tool({out, knows}, one);
  out.EndArray();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace krux::mcp
