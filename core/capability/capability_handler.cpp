#include "core/capability/capability_handler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/account/permission.hpp"
#include "core/audit/audit_log.hpp"
#include "core/capability/approvals.hpp"
#include "core/capability/call_rules.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/errors.hpp"
#include "core/capability/handler_context.hpp"
#include "core/capability/host_capabilities.hpp"
#include "core/capability/limits_in_use.hpp"
#include "core/capability/present_terms.hpp"
#include "core/capability/read_call.hpp"
#include "core/capability/standing_scope.hpp"
#include "core/capability/transaction_steps.hpp"
#include "core/capability/write_call.hpp"
#include "core/capability/write_content.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/state/agents.hpp"
#include "core/util/log.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// The capability and its definition; blocked ones too.
std::optional<Listed> find_capability(const HandlerContext& context, const std::string& name) {
  for (const auto& definition : own_definitions(context)) {
    if (const auto* capability = definition->find(name)) return Listed{definition, capability};
  }
  for (const auto& service : context.accounts.services()) {
    if (const auto* capability = service.definition->find(name)) return Listed{service.definition, capability};
  }
  return std::nullopt;
}

Listed require_capability(const HandlerContext& context, const Invocation& invocation) {
  const auto& name = invocation.capability;
  if (auto found = find_capability(context, name)) return *found;
  std::vector<std::string> names;
  for (const auto& listed : listed_capabilities(context, invocation.agent_name))
    names.push_back(listed.capability->name);
  throw invalid_input(fmt::format("There is no capability \"{}\"{}. capabilities.list shows all.",
                                  printable(name.substr(0, 100)), did_you_mean(name, names)));
}

/// A paused agent still sees what is held, and takes it back.
void must_not_be_paused(const HandlerContext& context, const Listed& listed, const std::string& agent_id) {
  const auto kind = listed.capability->kind;
  if (kind == CapabilityKind::kCancel || (kind == CapabilityKind::kRead && is_hosts_own(listed))) return;
  if (const auto pause = context.records.agents.pauses().holding(agent_id)) throw paused_error(*pause);
}

void check_tier(const CapabilityDefinition& capability) {
  if (capability.tier == Tier::kBlocked)
    throw Error(ErrorCode::kOperationBlocked,
                fmt::format("{} is blocked. The operator can allow it by giving it another tier.", capability.name));
  // A write of this tier waits in the buffer for a person.
  if (capability.tier == Tier::kApprovalRequired && capability.kind != CapabilityKind::kWrite)
    throw Error(ErrorCode::kApprovalRequired,
                fmt::format("{} needs a person's approval, and only writes can be approved: it cannot run. Ask the "
                            "operator to give it another tier in the definition.",
                            capability.name));
}

ActiveAccountPtr choose_account(const AccountDirectory& accounts, const Listed& listed, const std::string& name) {
  auto account = accounts.choose(listed.definition->service, name);
  must_be_open_to(*listed.capability, *account);
  if (account->health && account->health->quarantined())
    throw Error(ErrorCode::kServiceUnavailable,
                fmt::format("The adapter of {0} is out of service: it did not come back from two calls in a row. The "
                            "operator puts it back into service with: kruxos plugin release {0}",
                            listed.definition->service),
                true, 60'000);
  return account;
}

Error message_stuck() {
  return {ErrorCode::kTimeout,
          "The host did not get through this message in time and gave it up; what it asked for may have been done in "
          "part. See proxy.list_writes before you send it again, and tell the operator."};
}

void take_idempotency_key(CheckedCall& call) {
  const auto& outer = call.invocation.idempotency_key;
  auto& inner = call.arguments.idempotency_key;
  if (outer.size() > 200) throw invalid_input("The idempotency_key has more than 200 bytes.");
  if (!outer.empty() && !inner.empty() && outer != inner)
    throw invalid_input("Two different values of idempotency_key were given, beside the arguments and among them.");
  if (inner.empty()) inner = outer;
}

/// What the log could not tell of is not let happen. A cancellation, and what the host answers of itself, is.
void must_be_auditable(const HandlerOptions& options, const Listed& listed) {
  if (!options.audit) return;
  const auto kind = listed.capability->kind;
  const bool is_read = kind == CapabilityKind::kRead && is_under_rules(listed);
  if (kind != CapabilityKind::kWrite && !sets_state(listed) && !decides_on_a_write(*listed.capability) &&
      !(is_read && options.audit_stops_reads))
    return;
  if (auto error = options.audit->why_not_writable()) throw *std::move(error);
}

/// A read changes nothing, and may be made in the middle of one.
void must_fit_in_transactions(const CapabilityDefinition& capability, bool hosts_own) {
  if (!hosts_own && (capability.kind == CapabilityKind::kRead || capability.kind == CapabilityKind::kWrite)) return;
  throw invalid_input(
      fmt::format("{} cannot be a part of a transaction. Call it without \"transaction\".", capability.name));
}

void dispatch(const HandlerContextPtr& context, const std::shared_ptr<CheckedCall>& call) {
  const auto& accounts = context->accounts;
  const auto listed = require_capability(*context, call->invocation);
  call->definition = listed.definition;
  call->capability = listed.capability;
  call->metered.is(listed.definition->service, listed.capability->name,
                   listed.capability->kind == CapabilityKind::kRead);
  if (call->audit) call->audit->is(*listed.definition, *listed.capability);
  must_not_be_paused(*context, listed, call->invocation.agent_id);
  check_tier(*listed.capability);
  call->arguments = check_arguments(*listed.capability, call->invocation.arguments_json);
  if (call->audit) call->audit->given(call->arguments.params);
  must_be_auditable(context->options, listed);
  take_idempotency_key(*call);
  if (waits(*call)) call->metered.leave_untimed();
  if (!call->invocation.transaction_id.empty()) must_fit_in_transactions(*listed.capability, is_hosts_own(listed));
  if (is_hosts_own(listed)) return run_host_capability(context, call);
  if (listed.capability->kind == CapabilityKind::kCancel) return run_cancel(context, call);
  call->account = choose_account(accounts, listed, call->arguments.account);
  if (listed.capability->kind == CapabilityKind::kRead) return run_read(context, call);
  run_write(context, call);
}

}  // namespace

CapabilityHandler::CapabilityHandler(AccountDirectory& accounts, CallRunner& runner, WriteBuffer& writes,
                                     AgentRecords records, Clock& clock, HandlerOptions options)
    : context_(std::make_shared<const HandlerContext>(
          HandlerContext{accounts, runner, writes, records, clock, std::move(options)})) {}

void CapabilityHandler::in_turn(const std::string& agent_id, std::function<void()> work,
                                std::function<void(Error)> refused, RunsOn on) {
  const auto& context = *context_;
  const auto until = context.clock.boot_ms() + context.options.read_timeout_ms;
  const auto call = std::make_shared<CallContext>(CallOwner{}, context.clock, until);
  const auto no = std::make_shared<const std::function<void(Error)>>(std::move(refused));
  // What fails in one agent's message ends that message, and neither the thread nor the host.
  auto guarded = [work = std::move(work), no] {
    try {
      work();
    } catch (const std::exception& problem) {
      (*no)(error_of(problem));
    }
  };
  context.runner.start(
      call, nullptr, std::move(guarded),
      [call, no, agent_id](CallRunner::End end) {
        if (const auto failure = call->failure()) return (*no)(to_error(*failure, host_definition()->service));
        if (end == CallRunner::End::kReturned) return;  // it answers for itself
        log_event(spdlog::level::err, {"message_stuck", "", "", agent_id, ""},
                  fmt::format("a message of agent {} was given up: the host itself did not get through "
                              "it in time, no adapter was asked",
                              agent_id));
        (*no)(message_stuck());
      },
      {Lane::kLocal, agent_id}, on);
}

void CapabilityHandler::invoke(Invocation invocation, std::function<void(InvocationResult)> done) {
  const auto call = std::make_shared<CheckedCall>();
  call->metered = MeteredCall(context_->options.call_meters);
  if (auto* log = context_->options.audit) call->audit = std::make_shared<CallAudit>(*log);
  call->invocation = std::move(invocation);
  call->done = std::move(done);
  try {
    dispatch(context_, call);
  } catch (const std::exception& problem) {
    call->fail(error_of(problem));
  }
}

std::optional<Error> CapabilityHandler::why_not_ask(const Invocation& invocation, const Questions& questions) const {
  const auto& accounts = context_->accounts;
  try {
    const auto listed = require_capability(*context_, invocation);
    must_not_be_paused(*context_, listed, invocation.agent_id);
    check_tier(*listed.capability);
    const auto arguments = check_arguments(*listed.capability, invocation.arguments_json);
    // The arguments are as the agent gave them; what stands in them is asked when the read is made.
    must_not_be_ruled_out(
        ruling_on_any(*context_, rules_in_force(*context_), agent_name_of(*context_, invocation), *listed.capability),
        *listed.capability);
    must_be_asked_of(questions.account, *choose_account(accounts, listed, arguments.account));
    const auto why = why_not_asked(questions.all, *listed.capability, *listed.definition);
    if (!why.empty())
      return Error(ErrorCode::kOperationBlocked, fmt::format("{} may not ask that any more: {}. Call again from the "
                                                             "beginning.",
                                                             listed.capability->name, why));
  } catch (const std::exception& problem) {
    return error_of(problem);
  }
  return std::nullopt;
}

std::optional<Error> CapabilityHandler::why_not_hear_state(const std::string& agent_id) const {
  return krux::why_not_hear_state(*context_, agent_id);
}

std::function<PresentTerms(const WriteRecord&)> CapabilityHandler::terms() const {
  return [context = context_](const WriteRecord& write) { return present_terms(*context, write); };
}

void CapabilityHandler::approval(const std::string& agent_id, const std::string& write_id, std::int64_t wait_ms,
                                 std::function<void(std::variant<std::string, Error>)> done) {
  tell_of_approval(context_, agent_id, write_id, wait_ms, std::move(done));
}

void CapabilityHandler::transaction(TransactionStep step, std::function<void(std::variant<std::string, Error>)> done) {
  run_transaction_step(context_, std::move(step), std::move(done));
}

void CapabilityHandler::asked_approval(const std::string& agent_id, const std::string& write_id,
                                       std::function<void(AskedOutcome)> done) {
  find_asked_approval(context_, agent_id, write_id, std::move(done));
}

void CapabilityHandler::edit(const std::string& write_id, const std::string& shown_hash,
                             const std::string& arguments_json, const DecidingOperator& by,
                             std::function<void(std::variant<WriteRecord, Error>)> done) {
  edit_write(context_, {write_id, {}, shown_hash, arguments_json, by}, std::move(done));
}

std::string CapabilityHandler::list_json(const std::string& agent, const CatalogueFilter& filter) const {
  return summaries_json(listed_capabilities(*context_, agent), filter);
}

std::optional<std::string> CapabilityHandler::describe_json(const std::string& agent, const std::string& name) const {
  for (const auto& offer : offered(agent)) {
    if (offer.listed.capability->name == name) return description_json(offer);
  }
  return std::nullopt;
}

bool CapabilityHandler::knows(const std::string& capability) const {
  return find_capability(*context_, capability).has_value();
}

bool CapabilityHandler::takes_time(const std::string& capability) const {
  const auto found = find_capability(*context_, capability);
  return found && (found->capability->fetches || can_wait(*found->capability));
}

TakesLong CapabilityHandler::takes_long(const std::string& capability) const {
  const auto found = find_capability(*context_, capability);
  return found ? found->capability->takes_long : TakesLong::kNo;
}

std::vector<Offered> CapabilityHandler::offered(const std::string& agent) const {
  std::map<std::string, int> connected;
  for (const auto& account : context_->accounts.accounts()) ++connected[account->ref.service];
  std::vector<Offered> all;
  const auto rules = rules_in_force(*context_);
  for (auto& listed : listed_capabilities(*context_, agent)) {
    const auto delay_ms = std::max(delay_of(context_->options, *listed.capability),
                                   always_ruled(*rules, agent, *listed.capability).delay_ms);
    const bool several = connected[listed.definition->service] > 1;
    all.push_back({std::move(listed), delay_ms, several});
  }
  return all;
}

void CapabilityHandler::put_rules(JsonWriter& out, const WriteRecord& write) const {
  const auto set = rules_in_force(*context_);
  put_objects(out, "rules", rules_on_write(*context_, *set, write),
              [&](const MatchingRule& rule) { put_rule(out, rule); });
}

std::variant<StandingScope, std::string> CapabilityHandler::standing_scope(const WriteRecord& write) const {
  return krux::standing_scope(*context_, write);
}

void CapabilityHandler::put_limits(JsonWriter& out) const {
  put_limits_in_use(out, *context_);
}

std::vector<InputDefinition> CapabilityHandler::header_inputs(const std::string& capability) const {
  std::vector<InputDefinition> all;
  const auto found = find_capability(*context_, capability);
  if (!found) return all;
  std::copy_if(found->capability->inputs.begin(), found->capability->inputs.end(), std::back_inserter(all),
               [](const InputDefinition& input) { return !input.header.empty(); });
  return all;
}

void CapabilityHandler::values(ValuesWanted wanted, std::function<void(std::variant<Completion, Error>)> done) const {
  find_values(context_, std::move(wanted), std::move(done));
}

std::vector<std::string> CapabilityHandler::services() const {
  std::vector<std::string> names;
  for (const auto& service : context_->accounts.services()) names.push_back(service.definition->service);
  if (context_->options.state) names.push_back(state_definition()->service);
  return names;
}

}  // namespace krux
