#include "core/capability/host_capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/capability/write_call.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/capability_parser.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_rows.hpp"

namespace krux {
namespace {

constexpr const char* kStatus = "proxy.write_status";
constexpr std::int64_t kMaxListed = 100;
/// Clients of the Model Context Protocol give a call up after a minute.
constexpr std::int64_t kMaxWaitSeconds = 50;

CapabilityDefinition make(const char* name, CapabilityKind kind, const char* purpose, const char* when_to_use) {
  CapabilityDefinition c;
  c.name = name;
  c.kind = kind;
  c.tier = Tier::kAutonomous;
  c.purpose = purpose;
  c.when_to_use = when_to_use;
  c.tags = {"writes"};
  c.destructive = false;
  return c;
}

InputDefinition input(const char* name, const char* description) {
  InputDefinition i;
  i.name = name;
  i.description = description;
  i.max_length = 64;
  return i;
}

InputDefinition number(const char* name, const char* description, std::int64_t least, std::int64_t most,
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

OutputDefinition output(const char* name, InputType type, const char* description) {
  return {name, description, type};
}

CapabilityDefinition cancel_write() {
  auto c = make("proxy.cancel_write", CapabilityKind::kCancel, "Take back a write that has not been executed yet.",
                "Until the write's cancel_deadline, or while the host waits to try it again. Once it is executing or "
                "executed the answer is CannotCancel.");
  c.inputs = cancel_inputs();
  c.outputs = {output("write_id", InputType::kString, "The write that will not happen."),
               output("status", InputType::kString, "\"cancelled\": it will not happen."),
               output("cleanup", InputType::kString,
                      "Only where an attempt may have made something (a draft): \"pending\" while the host takes it "
                      "away; proxy.write_status then says \"done\", or \"left\" where it could not.")};
  return c;
}

/// What is always told of a write; a time or an error only where there is one.
std::vector<OutputDefinition> of_a_write() {
  auto error = output("error", InputType::kObject, "The last failure.");
  error.fields = {output("type", InputType::kString, ""), output("message", InputType::kString, "")};
  return {output("write_id", InputType::kString, ""),
          output("status", InputType::kString,
                 "pending_approval (a person decides), buffered, executing, dead_letter (it did not happen, the "
                 "host tries again), unknown (it may have happened, the host finds out); ended: completed, failed, "
                 "rejected, cancelled, discarded, rolled_back."),
          output("capability", InputType::kString, ""),
          output("summary", InputType::kString, ""),
          output("cancel_deadline", InputType::kDateTime, "Until then it can be cancelled."),
          output("created_at", InputType::kDateTime, ""),
          output("ended_at", InputType::kDateTime, ""),
          output("next_attempt_at", InputType::kDateTime, ""),
          output("needs_operator", InputType::kBoolean, "A person has to decide about it."),
          error};
}

CapabilityDefinition write_status() {
  auto c = make(kStatus, CapabilityKind::kRead, "See what became of one of your writes.",
                "After cancel_deadline, after OutcomeUnknown or WriteFailed, or whenever you are unsure whether a "
                "write happened: ask, do not repeat it.");
  c.inputs = cancel_inputs();
  c.inputs.push_back(number("wait_seconds",
                            "Answer when the write has ended, or after so many seconds with how it stands then.", 0,
                            kMaxWaitSeconds, "0"));
  c.outputs = of_a_write();
  c.outputs.push_back(
      output("recipients", InputType::kObject, "Whom it reaches, where it has recipients: {to, cc, ...}."));
  c.outputs.push_back(output("arguments", InputType::kObject, "What was asked for."));
  c.outputs.push_back(output("result", InputType::kObject, "What the service answered, once completed."));
  c.outputs.push_back(output("content_hash", InputType::kString, "Of its content, for proxy.edit_write."));
  return c;
}

CapabilityDefinition list_writes() {
  auto c = make("proxy.list_writes", CapabilityKind::kRead, "List your own writes, newest first.",
                "To find a write whose id you lost, or to see what still waits.");
  auto status = input("status", "Only writes in this state.");
  for (int i = 0; i <= static_cast<int>(WriteState::kDiscarded); ++i)
    status.one_of.emplace_back(to_string(static_cast<WriteState>(i)));
  c.inputs = {status, input("service", "Only writes to this service."),
              number("limit", "How many to return at most.", 1, kMaxListed, "20"),
              input("before", "For the next page: the last write_id of this one.")};
  auto writes = output("writes", InputType::kArray, "As proxy.write_status tells of one.");
  writes.items = {output("", InputType::kObject, "")};
  c.outputs = {writes, output("more", InputType::kBoolean, "There are older ones.")};
  return c;
}

CapabilityDefinition edit_write() {
  auto c = make("proxy.edit_write", CapabilityKind::kDecide, "Change a write that still waits.",
                "Until its cancel_deadline, instead of cancelling it and asking anew. Its window begins again; what a "
                "person was asked about, he is asked about again.");
  c.core = false;
  auto arguments = input("arguments",
                         "The parameters that change, as its capability takes them; the others stay. "
                         "null takes one back to its default.");
  arguments.type = InputType::kObject;
  arguments.required = true;
  arguments.aliases = {"parameters"};
  arguments.max_length.reset();
  c.inputs = cancel_inputs();
  c.inputs.push_back(arguments);
  c.inputs.push_back(input("content_hash",
                           "The content_hash that you last saw: if it has changed since, nothing is done. Without it "
                           "the present content is edited."));
  c.outputs = {output("write_id", InputType::kString, "The same write."),
               output("status", InputType::kString, "buffered, or pending_approval."),
               output("content_hash", InputType::kString, "Of its new content."),
               output("cancel_deadline", InputType::kDateTime, "The end of its new window.")};
  return c;
}

CapabilityDefinition rollback() {
  auto c = make("proxy.rollback", CapabilityKind::kDecide, "Undo one of your completed writes at the service.",
                "When a write that was carried out should not have been, as long as its service keeps what is needed "
                "for it. While a write still waits, cancel it instead.");
  c.destructive = true;
  c.inputs = cancel_inputs();
  c.outputs = {output("status", InputType::kString, "\"ok\": it is undone."),
               output("write_id", InputType::kString, "The undo (rb_...), for proxy.write_status.")};
  return c;
}

std::string text_of(const CheckedCall& call, const char* name) {
  return std::string(find_string(call.arguments.params, name).value_or(""));
}

std::string status_of(const HandlerContext& context, const CheckedCall& call, const WriteRecord& write) {
  return sized_for(call, status_json(write, true, recipients_of(context, write), names_for(call)));
}

WriteRecord own_write(const HandlerContext& context, const CheckedCall& call) {
  const auto id = write_id_of(call);
  auto write = context.writes.ledger.get(id);
  // Another agent's write does not exist for this one.
  if (!write || write->agent_id != call.invocation.agent_id)
    throw invalid_input(fmt::format("There is no write {} of yours; proxy.list_writes shows all.", id));
  return *std::move(write);
}

Error not_readable_now() {
  return {ErrorCode::kDatabaseError, "How the write stands cannot be read just now. Ask again.", true, 1000};
}

void answer(const CheckedCallPtr& call, WorkAnswer text) {
  if (const auto* error = std::get_if<Error>(&text)) return call->fail(*error);
  call->succeed(std::move(std::get<std::string>(text)));
}

/// Says in which state the write is, when the wait begins and whenever it has become another one.
std::function<void(const WriteRecord&)> tells_of(const CheckedCall& call) {
  if (!call.invocation.progress) return {};
  return [tell = call.invocation.progress, last = std::make_shared<std::atomic<int>>(-1)](const WriteRecord& now) {
    const auto state = static_cast<int>(now.state);
    if (last->exchange(state) != state) tell(fmt::format("The write {}.", state_in_words(phase_of(now))));
  };
}

std::int64_t wait_ms_of(const CheckedCall& call) {
  return 1000 * find_int(call.arguments.params, "wait_seconds").value_or(0);
}

/// The write as it stands when it has ended, the time is over or nobody waits any more. No thread waits meanwhile, and
/// who tells of it, which is whoever has committed, has the answer made by a worker.
void wait_for_end(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto id = write_id_of(*call);
  const auto waiter = context->writes.settled.wait(
      id, wait_ms_of(*call),
      [context, call](const WriteRecord& now) {
        if (call->invocation.is_given_up()) return call->fail(given_up());
        run_on_worker(
            context, call, context->options.read_timeout_ms,
            [context, call, now](const CallContextPtr&) {
              if (now.operation.empty()) throw not_readable_now();
              return status_of(*context, *call, now);
            },
            [call](WorkAnswer text) { answer(call, std::move(text)); });
      },
      WaitFor::kEnded, tells_of(*call));
  if (const auto& cancellation = call->invocation.cancellation)
    cancellation->on_cancel([context, id, waiter] { context->writes.settled.give_up(id, waiter); });
}

void run_status(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call](const CallContextPtr&) {
        const auto write = own_write(*context, *call);
        return waits(*call) && !has_ended(write.state) ? std::string() : status_of(*context, *call, write);
      },
      [context, call](WorkAnswer text) {
        const auto* told = std::get_if<std::string>(&text);
        if (told && told->empty()) return wait_for_end(context, call);
        answer(call, std::move(text));
      });
}

std::string list_of(const HandlerContext& context, const CheckedCall& call) {
  const auto limit = find_int(call.arguments.params, "limit").value_or(20);
  WriteFilter filter;
  filter.agent_id = call.invocation.agent_id;
  filter.service = text_of(call, "service");
  filter.account_id = call.arguments.account;
  filter.before_write_id = text_of(call, "before");
  filter.limit = limit + 1;
  if (const auto state = parse_write_state(text_of(call, "status"))) filter.states = {*state};
  const auto writes = context.writes.ledger.list(filter);
  if (writes.empty() && !filter.service.empty() && !context.accounts.service(filter.service))
    throw invalid_input(fmt::format("There is no service \"{}\" here.", printable(filter.service)));
  std::string out;
  for (std::size_t i = 0; i < std::min(writes.size(), static_cast<std::size_t>(limit)); ++i)
    out += (i == 0 ? "" : ",") + status_json(writes[i], false, recipients_of(context, writes[i]), names_for(call));
  return sized_for(call,
                   fmt::format(R"({{"writes":[{}],"more":{}}})", out, writes.size() > static_cast<std::size_t>(limit)));
}

}  // namespace

const std::shared_ptr<const ServiceDefinition>& host_definition() {
  static const std::shared_ptr<const ServiceDefinition> definition = [] {
    ServiceDefinition host;
    host.service = host.prefix = "proxy";
    host.display_name = "KruxOS";
    host.description = "Your own writes.";
    host.capabilities = {cancel_write(), edit_write(), rollback(), write_status(), list_writes()};
    return std::make_shared<const ServiceDefinition>(std::move(host));
  }();
  return definition;
}

bool can_wait(const CapabilityDefinition& capability) {
  return capability.name == kStatus;
}

bool waits(const CheckedCall& call) {
  return can_wait(*call.capability) && wait_ms_of(call) > 0;
}

void run_host_capability(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  if (call->capability->kind == CapabilityKind::kCancel) return run_cancel(context, call);
  if (call->capability->name == "proxy.edit_write") return run_edit(context, call);
  if (call->capability->name == kRollbackOperation) return run_rollback(context, call);
  if (call->capability->name == kStatus) return run_status(context, call);
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call](const CallContextPtr&) { return list_of(*context, *call); },
      [call](WorkAnswer text) { answer(call, std::move(text)); });
}

}  // namespace krux
