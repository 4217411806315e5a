// transaction.begin, commit, rollback and status. A transaction that was begun over a WebSocket ends with it.
#include <utility>

#include "core/util/json.hpp"
#include "core/write/transactions.hpp"
#include "host/gateway/agent_methods.hpp"
#include "host/gateway/rpc_params.hpp"

namespace krux {
namespace {

constexpr std::string_view kTransaction = "transaction";

std::string id_in(const std::string& transaction_json) {
  const auto parsed = parse_json(transaction_json, "a transaction");
  return std::string(find_string(parsed, kTransaction).value_or(""));
}

}  // namespace

bool AgentMethods::Caller::begun(const std::string& transaction, std::int64_t until_ms, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (lost_) return false;
  std::erase_if(transactions_, [&](const auto& one) { return one.second <= now_ms; });
  transactions_.emplace(transaction, until_ms);
  return true;
}

void AgentMethods::Caller::ended(const std::string& transaction) {
  const std::lock_guard lock(mutex_);
  transactions_.erase(transaction);
}

std::map<std::string, std::int64_t> AgentMethods::Caller::lose() {
  const std::lock_guard lock(mutex_);
  lost_ = true;
  return std::exchange(transactions_, {});
}

void AgentMethods::begin_transaction(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  TransactionStep step{TransactionStep::What::kBegin, caller->agent.agent_id};
  step.session_id = params.text("session_id");
  step.for_ms = 1'000 * params.number("timeout", kShortestTransactionMs / 1'000, kLongestTransactionMs / 1'000)
                            .value_or(kDefaultTransactionMs / 1'000);
  if (!step.session_id.empty() && !api_.sessions().use(step.session_id, caller->agent.agent_id))
    return answer(reply, "transaction.begin", rpc_error(session_expired()));
  const auto ends_ms = clock_.boot_ms() + step.for_ms;
  transaction_step(
      caller, "transaction.begin", std::move(step),
      [caller, ends_ms, &clock = clock_, link = link_](const std::string& begun) {
        if (!caller->to) return;  // over HTTP there is no connection that it could outlive
        auto id = id_in(begun);
        if (!caller->begun(id, ends_ms, clock.boot_ms())) roll_back_lost(*link, caller->agent.agent_id, std::move(id));
      },
      reply);
}

void AgentMethods::commit_transaction(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  end_transaction(caller, "transaction.commit", TransactionStep::What::kCommit, params, reply);
}

void AgentMethods::roll_back_transaction(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  end_transaction(caller, "transaction.rollback", TransactionStep::What::kRollBack, params, reply);
}

void AgentMethods::transaction_status(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  TransactionStep step{TransactionStep::What::kStatus, caller->agent.agent_id};
  step.transaction_id = params.required(kTransaction);
  transaction_step(
      caller, "transaction.status", std::move(step), [](const std::string&) {}, reply);
}

void AgentMethods::end_transaction(const CallerPtr& caller, std::string_view method, TransactionStep::What what,
                                   const RpcParams& params, const RpcReply& reply) {
  TransactionStep step{what, caller->agent.agent_id};
  step.transaction_id = params.required(kTransaction);
  step.reason = "Its agent rolled it back.";
  transaction_step(
      caller, method, std::move(step), [caller, id = step.transaction_id](const std::string&) { caller->ended(id); },
      reply);
}

/// As one of the caller's calls in flight.
void AgentMethods::transaction_step(const CallerPtr& caller, std::string_view method, TransactionStep step,
                                    std::function<void(const std::string&)> went_well, const RpcReply& reply) {
  auto places = take_places(caller);
  if (const auto* full = std::get_if<Error>(&places)) return answer(reply, method, rpc_error(*full));
  api_.transaction(std::move(step), [places = std::get<Places>(std::move(places)), went_well = std::move(went_well),
                                     reply = counted(reply, method)](std::variant<std::string, Error> outcome) mutable {
    places = {};
    if (const auto* error = std::get_if<Error>(&outcome)) return reply(rpc_error(*error));
    went_well(std::get<std::string>(outcome));
    reply(std::move(std::get<std::string>(outcome)));
  });
}

void AgentMethods::connection_lost(Caller& caller) {
  for (const auto& [id, until_ms] : caller.lose()) roll_back_lost(*link_, caller.agent.agent_id, id);
}

void AgentMethods::roll_back_lost(Link& link, const std::string& agent_id, std::string transaction_id) {
  TransactionStep step{TransactionStep::What::kRollBack, agent_id};
  step.transaction_id = std::move(transaction_id);
  step.reason = "The connection that it was begun on was lost.";
  const std::lock_guard lock(link.mutex);
  // Of one that was committed meanwhile nothing is to be done.
  if (link.api) link.api->transaction(std::move(step), [](const std::variant<std::string, Error>&) {});
}

}  // namespace krux
