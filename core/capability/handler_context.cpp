#include "core/capability/handler_context.hpp"

#include <fmt/format.h>

#include "core/capability/answer_budget.hpp"
#include "core/capability/errors.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/asks.hpp"
#include "core/replica/replica.hpp"
#include "core/state/sessions.hpp"

namespace krux {
namespace {

WorkAnswer answer_of(const std::function<std::string(const CallContextPtr&)>& work, const CallContextPtr& on,
                     const Invocation& invocation) {
  try {
    if (invocation.is_given_up()) return given_up();
    return work(on);
  } catch (const std::exception& problem) {
    return error_of(problem);
  }
}

/// The call was given up, or never began.
Error abandoned(const CallContextPtr& call, const std::string& service) {
  if (const auto failure = call->failure()) return to_error(*failure, service);
  return to_error(CallFailure{KRUX_TIMEOUT, true, {}, "", std::nullopt}, service);
}

CallTurn turn_of(const CheckedCall& call) {
  if (call.invocation.agent_id.empty()) return {};
  CallTurn turn{Lane::kLocal, call.invocation.agent_id};
  // What the host answers by itself is brief; a commit of the ledger's is the longest of it.
  turn.on_borrowed = !call.account || (call.capability && call.capability->kind == CapabilityKind::kRead);
  if (!call.account) return turn;
  turn.account = call.account->ref.service + ' ' + call.account->ref.account_id;
  if (call.account->isolated) turn.lane = Lane::kIsolated;
  if (call.capability && call.capability->fetches) turn.lane = Lane::kFetch;
  return turn;
}

Replica& replica_of(const ActiveAccount& account) {
  if (!account.replica)
    throw not_connected(fmt::format("{} has no replica yet; try again when it is connected.", account.ref.service));
  return *account.replica;
}

}  // namespace

Error error_of(const std::exception& problem) {
  if (const auto* error = dynamic_cast<const Error*>(&problem)) return *error;
  return {ErrorCode::kServiceUnavailable,
          fmt::format("The host failed unexpectedly: {}. Tell the operator.", problem.what()), true, 60'000};
}

Error given_up() {
  return {ErrorCode::kCancelled, "Whoever made this call waits for its answer no more."};
}

void CheckedCall::ask(Questions questions) const {
  const auto can_ask = invocation.dialogue ? invocation.dialogue->can_ask : 0;
  questions.missing = questions.kinds() & ~can_ask;
  const Error error(
      ErrorCode::kInputRequired,
      fmt::format("{} must be told something before it can answer, and nobody can be asked for it here: "
                  "{}.",
                  capability->name, asks_in_words(questions.missing ? questions.missing : questions.kinds())));
  metered.ended({});
  tell_audit(error.type());
  done({false, {}, error_json(error, definition.get()), std::nullopt, {}, std::move(questions)});
}

std::string recipients_of(const HandlerContext& context, const WriteRecord& write) {
  const auto service = context.accounts.service(write.account.service);
  return recipients_of(service ? service->definition.get() : nullptr, write);
}

std::string session_of(const HandlerContext& context, const CheckedCall& call) {
  const auto& invocation = call.invocation;
  if (!invocation.session_id.empty()) return invocation.session_id;
  return context.records.sessions.of_the_day(invocation.agent_id, invocation.agent_name);
}

Error session_ended(const CheckedCall& call) {
  if (!call.invocation.session_id.empty()) return session_expired();
  return {ErrorCode::kSessionExpired, "Your session has ended: call again for your present one.", true};
}

std::string sized_for(const CheckedCall& call, std::string result_json) {
  if (!call.invocation.for_model) return result_json;
  return within_budget(std::move(result_json), *call.capability, call.arguments.params);
}

std::shared_ptr<ReplicaReader> reader_of(const ActiveAccount& account) {
  return replica_of(account).reader();
}

std::shared_ptr<ReplicaReader> fetching_reader_of(const ActiveAccount& account) {
  return replica_of(account).fetching_reader();
}

RowsAnswer answer_from_rows(const ActiveAccount& account, const CallContextPtr& on,
                            const std::shared_ptr<ReplicaReader>& lent,
                            const std::function<CallResult<std::string>(const std::shared_ptr<ReplicaReader>&)>& ask) {
  RowsAnswer first{ask(lent), lent};
  const bool failed = std::holds_alternative<CallFailure>(first.answer);
  if (!failed || !lent->saw_other_version() || on->owner().sends != Sends::kNothing || on->cancelled()) return first;
  const auto filled = replica_of(account).filled_reader();
  RowsAnswer second{ask(filled), filled};
  return std::holds_alternative<CallFailure>(second.answer) ? first : second;
}

void run_on_worker(const HandlerContextPtr& context, const CheckedCallPtr& call, std::int64_t timeout_ms,
                   std::function<std::string(const CallContextPtr&)> work, std::function<void(WorkAnswer)> then) {
  CallOwner owner;
  std::shared_ptr<AdapterHealth> health;
  if (call->account) {
    owner.service = call->account->ref.service;
    owner.account_id = call->account->ref.account_id;
    owner.generation = call->account->ref.generation;
    health = call->account->health;
  }
  owner.agent = call->invocation.agent_id;
  // What runs here reads, or resolves a write's parameters from the replica: the write itself is the executor's.
  owner.sends = call->capability && call->capability->fetches ? Sends::kSafe : Sends::kNothing;
  const auto on = std::make_shared<CallContext>(owner, context->clock, context->clock.boot_ms() + timeout_ms);
  // Written by the worker, read only after it returned: an abandoned worker may still write while nobody reads.
  const auto answer = std::make_shared<WorkAnswer>();
  const bool reads = call->capability && call->capability->kind == CapabilityKind::kRead;
  if (const auto& cancellation = call->invocation.cancellation; cancellation && reads)
    cancellation->on_cancel([on] { on->cancel(); });
  context->runner.start(
      on, health, [work = std::move(work), on, answer, call] { *answer = answer_of(work, on, call->invocation); },
      [on, answer, then = std::move(then), service = call->definition->service](CallRunner::End end) {
        then(end == CallRunner::End::kReturned ? std::move(*answer) : WorkAnswer(abandoned(on, service)));
      },
      turn_of(*call));
}

}  // namespace krux
