// The host's own capabilities, together.
#include "core/capability/host_capabilities.hpp"
#include "core/capability/host_capability.hpp"

namespace krux {
namespace {

const std::vector<HostCapability>& state_table() {
  static const auto table = state_capabilities();
  return table;
}

const std::vector<HostCapability>& host_table() {
  static const std::vector<HostCapability> table = [] {
    std::vector<HostCapability> all;
    for (auto* const room : {&write_capabilities, &agent_capabilities, &alert_capabilities, &briefing_capabilities}) {
      for (auto& one : room()) all.push_back(std::move(one));
    }
    return all;
  }();
  return table;
}

std::shared_ptr<const ServiceDefinition> own_definition(const char* prefix, const char* description,
                                                        const std::vector<HostCapability>& table) {
  ServiceDefinition own;
  own.service = own.prefix = prefix;
  own.display_name = "KruxOS";
  own.description = description;
  for (const auto& one : table) own.capabilities.push_back(one.definition);
  return std::make_shared<const ServiceDefinition>(std::move(own));
}

}  // namespace

CapabilityDefinition host_capability(const char* name, CapabilityKind kind, const char* purpose,
                                     const char* when_to_use, const char* tag) {
  CapabilityDefinition c;
  c.name = name;
  c.kind = kind;
  c.tier = Tier::kAutonomous;
  c.purpose = purpose;
  c.when_to_use = when_to_use;
  c.tags = {tag};
  c.destructive = false;
  return c;
}

InputDefinition host_text(const char* name, const char* description, std::size_t most) {
  InputDefinition i;
  i.name = name;
  i.description = description;
  i.max_length = most;
  return i;
}

InputDefinition host_number(const char* name, const char* description, std::int64_t least, std::int64_t most,
                            const char* usual) {
  InputDefinition i;
  i.name = name;
  i.description = description;
  i.type = InputType::kInteger;
  i.minimum = least;
  i.maximum = most;
  i.default_json = usual;
  return i;
}

OutputDefinition host_output(const char* name, InputType type, const char* description) {
  return {name, description, type};
}

std::string text_argument(const CheckedCall& call, const char* name) {
  return std::string(find_string(call.arguments.params, name).value_or(""));
}

void answer_with(const CheckedCallPtr& call, WorkAnswer text) {
  if (const auto* error = std::get_if<Error>(&text)) return call->fail(*error);
  call->succeed(std::move(std::get<std::string>(text)));
}

void answer_on_worker(const HandlerContextPtr& context, const CheckedCallPtr& call,
                      std::function<std::string(const HandlerContext&, const CheckedCall&)> work) {
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call, work = std::move(work)](const CallContextPtr&) { return work(*context, *call); },
      [call](WorkAnswer text) { answer_with(call, std::move(text)); });
}

const std::shared_ptr<const ServiceDefinition>& host_definition() {
  static const auto definition =
      own_definition("proxy", "Your own writes, yourself, and what you tell the operator.", host_table());
  return definition;
}

const std::shared_ptr<const ServiceDefinition>& state_definition() {
  static const auto definition =
      own_definition("state", "What you note for yourself and for other agents.", state_table());
  return definition;
}

void run_host_capability(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  for (const auto& one : call->definition == state_definition() ? state_table() : host_table()) {
    if (one.definition.name == call->capability->name) return one.run(context, call);
  }
}

}  // namespace krux
