#include "core/capability/write_call.hpp"

#include <fmt/format.h>

#include "core/capability/call_rules.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/errors.hpp"
#include "core/capability/standing_scope.hpp"
#include "core/capability/upload_inputs.hpp"
#include "core/capability/write_content.hpp"
#include "core/capability/write_json.hpp"
#include "core/util/text.hpp"
#include "core/write/write_meters.hpp"

namespace krux {
namespace {

NewWrite make_write(const HandlerContext& context, const CheckedCall& call) {
  const auto& capability = *call.capability;
  const auto by = governing(context, call, agent_name_of(context, call.invocation), call.invocation.agent_id);
  if (call.arguments.send_at_ms > 0) must_have_window(by);
  NewWrite write;
  auto content = content_of(context.options, call, by, call.arguments);
  write.order = std::move(content.order);
  write.limits = std::move(content.limits);
  write.counts = content.counts;
  write.audited = std::move(content.audited);
  static_cast<WriteContent&>(write) = std::move(content);
  write.agent_id = call.invocation.agent_id;
  write.session_id = session_of(context, call);
  write.transaction_id = call.invocation.transaction_id;
  if (!write.transaction_id.empty() && !by.at_once) write.admitted_as = WriteState::kHeld;
  write.account = call.account->ref;
  write.operation = capability.name;
  write.immediate = by.at_once;
  write.settle_ms = context.options.settle_ms.value_or(capability.settle_ms);
  write.idempotency_key = call.arguments.idempotency_key;
  write.sets_state = capability.harmless_to_repeat;
  write.allow_duplicate = call.arguments.allow_duplicate;
  write.when_absent = to_string(capability.when_absent);
  write.leaves_something = capability.cleanup;
  write.rollback_ms = capability.undoable ? call.definition->rollback_retention_ms : 0;
  write.by_standing = covering_standing(context, write);
  return write;
}

/// Whether it has happened or will by itself. (What was undone has happened.)
bool is_on_its_way_or_done(WriteState state) {
  return state == WriteState::kHeld || state == WriteState::kBuffered || state == WriteState::kExecuting ||
         state == WriteState::kCompleted || state == WriteState::kRolledBack;
}

/// A write as it stands: new, asked for again, or waited for and perhaps still going on.
void answer_as_it_stands(const HandlerContextPtr& context, const CheckedCallPtr& call, const WriteRecord& write,
                         bool duplicate) {
  const auto recipients = recipients_of(*context, write);
  if (!is_on_its_way_or_done(write.state)) return call->fail(to_error(write, context->clock.wall_ms(), recipients));
  const bool now_done = write.immediate && write.state == WriteState::kCompleted;
  call->succeed(sized_for(*call, now_done ? completed_json(write, duplicate, recipients, names_for(*call))
                                          : buffered_json(write, duplicate, recipients, names_for(*call))));
}

void answer_submitted(const HandlerContextPtr& context, const CheckedCallPtr& call, const Submitted& submitted) {
  const auto& write = submitted.write;
  if (call->audit)
    submitted.duplicate ? call->audit->answered_by(write.write_id) : call->audit->stands_with_its_write();
  if (!write.immediate || write.state == WriteState::kPendingApproval)
    return answer_as_it_stands(context, call, write, submitted.duplicate);
  context->writes.settled.wait(write.write_id, context->options.immediate_wait_ms,
                               [context, call, duplicate = submitted.duplicate, write](const WriteRecord& settled) {
                                 answer_as_it_stands(context, call, settled.write_id.empty() ? write : settled,
                                                     duplicate);
                               });
}

void count_ack(const HandlerContext& context, const CheckedCall& call, const std::variant<Submitted, Error>& outcome,
               std::int64_t began_us) {
  if (auto* meters = context.options.write_meters) {
    meters->of(call.account->ref.service, call.capability->name).acknowledged(outcome, meters->now_us() - began_us);
  }
}

/// On a worker.
void submit(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto began_us = context->options.write_meters ? context->options.write_meters->now_us() : 0;
  NewWrite write;
  try {
    write = make_write(*context, *call);
    // Where the ledger refuses it, no row of its own tells of it.
    if (call->audit) call->audit->decided(write.audited.decision_json);
  } catch (const std::exception& problem) {
    return call->fail(error_of(problem));
  }
  context->writes.ledger.submit(
      std::move(write),
      [context, call, began_us](const std::variant<Submitted, Error>& outcome) {
        count_ack(*context, *call, outcome, began_us);
        if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
        const auto& submitted = std::get<Submitted>(outcome);
        if (!submitted.duplicate) note_call(*context, *call, submitted.write.created_at_ms);
        answer_submitted(context, call, submitted);
      },
      Ledger::CommitThread::kCallers);
}

}  // namespace

void run_write(const HandlerContextPtr& context, const std::shared_ptr<CheckedCall>& call) {
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call](const CallContextPtr& on) {
        bind_uploads(context->options.uploads, *call->capability, call->invocation.agent_id, call->arguments);
        call->resolved =
            resolve_params(*call->account, on, call->capability->name, params_of(call->arguments.params_json));
        call->names = names_for_summary(*call->account, *call->capability, call->resolved.params);
        return std::string();
      },
      [context, call](WorkAnswer answer) {
        if (const auto* error = std::get_if<Error>(&answer)) return call->fail(*error);
        if (call->invocation.is_given_up()) return call->fail(given_up());
        submit(context, call);
      });
}

WriteRecord own_write(const HandlerContext& context, const std::string& agent_id, const std::string& write_id) {
  auto write = context.writes.ledger.get(write_id);
  if (!write || write->agent_id != agent_id)
    throw invalid_input(fmt::format("There is no write {} of yours; proxy.list_writes shows all.", write_id));
  return *std::move(write);
}

Error not_readable_now() {
  return {ErrorCode::kDatabaseError, "How the write stands cannot be read just now. Ask again.", true, 1000};
}

std::string write_id_of(const CheckedCall& call) {
  auto id = std::string(find_string(call.arguments.params, "write_id").value_or(""));
  if (!is_write_id(id))
    throw invalid_input(fmt::format("{}: \"{}\" is not a write_id; give the one that the write's result named (w_...).",
                                    call.capability->name, printable(id)));
  return id;
}

void run_cancel(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto& agent = call->invocation.agent_id;
  context->writes.ledger.cancel(
      write_id_of(*call), agent, "agent:" + agent, [context, call](const std::variant<WriteRecord, Error>& outcome) {
        if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
        const auto& write = std::get<WriteRecord>(outcome);
        call->succeed(buffered_json(write, false, recipients_of(*context, write), names_for(*call)));
      });
}

void run_edit(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto& agent = call->invocation.agent_id;
  const auto* arguments = find_member(call->arguments.params, "arguments");
  EditRequest request{write_id_of(*call), agent,
                      std::string(find_string(call->arguments.params, "content_hash").value_or("")),
                      to_json(*arguments), "agent:" + agent};
  edit_write(context, std::move(request), [context, call](const std::variant<WriteRecord, Error>& outcome) {
    if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
    const auto& write = std::get<WriteRecord>(outcome);
    call->succeed(buffered_json(write, false, recipients_of(*context, write), names_for(*call)));
  });
}

void run_rollback(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call, id = write_id_of(*call)](const CallContextPtr&) {
        const auto write = context->writes.ledger.get(id);
        if (write && write->agent_id == call->invocation.agent_id) must_be_connected(context->accounts, *write);
        return id;
      },
      [context, call](WorkAnswer known) {
        if (const auto* error = std::get_if<Error>(&known)) return call->fail(*error);
        const auto& agent = call->invocation.agent_id;
        context->writes.ledger.roll_back(
            std::get<std::string>(known), agent, false, "agent:" + agent,
            [context, call](const std::variant<Submitted, Error>& outcome) {
              if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
              answer_submitted(context, call, std::get<Submitted>(outcome));
            },
            session_of(*context, *call));
      });
}

}  // namespace krux
