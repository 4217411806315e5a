#include "core/capability/write_call.hpp"

#include <fmt/format.h>

#include "core/capability/errors.hpp"
#include "core/capability/write_json.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// The parameters with names replaced by ids, in canonical form.
std::string resolve(const CheckedCallPtr& call, const CallContextPtr& on) {
  const auto& account = *call->account;
  if (!account.adapter->roles().read) return call->arguments.params_json;
  const auto answer =
      account.adapter->resolve(on, reader_of(account), call->capability->name, call->arguments.params_json);
  if (const auto* failure = std::get_if<CallFailure>(&answer)) throw to_error(*failure, account.ref.service);
  const auto& resolved = std::get<std::string>(answer);
  if (resolved == call->arguments.params_json) return resolved;
  try {
    const auto document = parse_json(resolved, "what it resolved");
    if (document.IsObject()) return canonical_json(document);
  } catch (const Error&) {
    // Below: it is the adapter's defect, not the agent's input.
  }
  throw Error("ServiceUnavailable",
              fmt::format("The adapter of {} gave parameters that are no JSON object. This is a defect of the adapter; "
                          "tell the operator.",
                          account.ref.service),
              true, 60'000);
}

void set_times(const HandlerOptions& options, const CapabilityDefinition& capability, NewWrite& write) {
  const auto configured = options.delays_ms.find(capability.name);
  if (configured != options.delays_ms.end()) {
    write.delay_ms = configured->second;
    write.immediate = capability.immediate && write.delay_ms == 0;
  } else {
    write.delay_ms = capability.delay_ms.value_or(options.default_delay_ms);
    write.immediate = capability.immediate;
  }
  write.settle_ms = options.settle_ms.value_or(capability.settle_ms);
}

NewWrite make_write(const HandlerContext& context, const CheckedCall& call, std::string params_json) {
  NewWrite write;
  write.agent_id = call.invocation.agent_id;
  write.account = call.account->ref;
  write.operation = call.capability->name;
  write.params_json = std::move(params_json);
  write.params_shown_json = call.arguments.params_json;
  write.summary = summary_of(*call.capability, call.arguments.params);
  write.idempotency_key = call.arguments.idempotency_key;
  write.sets_state = call.capability->harmless_to_repeat;
  write.allow_duplicate = call.arguments.allow_duplicate;
  write.tier = to_string(call.capability->tier);
  write.definition_version = call.definition->version;
  write.when_absent = to_string(call.capability->when_absent);
  set_times(context.options, *call.capability, write);
  return write;
}

/// An immediate write that has ended, or still goes on after the time that it was waited for.
void answer_settled(const HandlerContextPtr& context, const CheckedCallPtr& call, const BufferedWrite& write,
                    bool duplicate) {
  switch (write.state) {
    case WriteState::kCompleted:
      return call->succeed(completed_json(write, duplicate));
    case WriteState::kFailed:
    case WriteState::kDeadLetter:
    case WriteState::kUnknown:
      return call->fail(to_error(write, context->clock.wall_ms()));
    default:
      return call->succeed(buffered_json(write, duplicate));
  }
}

void answer_submitted(const HandlerContextPtr& context, const CheckedCallPtr& call, const Submitted& submitted) {
  const auto& write = submitted.write;
  if (!write.immediate) return call->succeed(buffered_json(write, submitted.duplicate));
  context->writes.when_settled(write.write_id, context->options.immediate_wait_ms,
                               [context, call, duplicate = submitted.duplicate, write](const BufferedWrite& settled) {
                                 answer_settled(context, call, settled.write_id.empty() ? write : settled, duplicate);
                               });
}

void submit(const HandlerContextPtr& context, const CheckedCallPtr& call, std::string params_json) {
  context->writes.submit(make_write(*context, *call, std::move(params_json)),
                         [context, call](const std::variant<Submitted, Error>& outcome) {
                           if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
                           answer_submitted(context, call, std::get<Submitted>(outcome));
                         });
}

}  // namespace

void run_write(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  run_on_worker(
      context, call, context->options.read_timeout_ms, [call](const CallContextPtr& on) { return resolve(call, on); },
      [context, call](Answer answer) {
        if (const auto* error = std::get_if<Error>(&answer)) return call->fail(*error);
        submit(context, call, std::move(std::get<std::string>(answer)));
      });
}

std::string write_id_of(const CheckedCall& call) {
  auto id = std::string(find_string(call.arguments.params, "write_id").value_or(""));
  if (!is_id("w_", id))
    throw invalid_input(fmt::format("{}: \"{}\" is not a write_id; give the one that the write's result named (w_...).",
                                    call.capability->name, printable(id)));
  return id;
}

void run_cancel(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto& agent = call->invocation.agent_id;
  context->writes.cancel(write_id_of(*call), agent, "agent:" + agent,
                         [call](const std::variant<BufferedWrite, Error>& outcome) {
                           if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
                           call->succeed(buffered_json(std::get<BufferedWrite>(outcome), false));
                         });
}

}  // namespace krux
