#include "core/capability/transaction_steps.hpp"

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// How long a rollback is waited for; what takes longer goes on by itself.
constexpr std::int64_t kUndoWaitMs = 10'000;

}  // namespace

std::string transaction_json(const AgentTransaction& transaction) {
  const auto& t = transaction;
  return json_object([&](JsonWriter& out) {
    put(out, "transaction", t.transaction_id);
    put(out, "state", std::string_view(to_string(t.state)));
    if (t.state == TransactionState::kOpen) put(out, "until", format_time(t.until_ms));
    if (t.ended_at_ms > 0) put(out, "ended_at", format_time(t.ended_at_ms));
    if (!t.reason.empty()) put(out, "reason", printable(t.reason));
    put_objects(out, "writes", t.writes, [&](const TransactionWrite& one) {
      put(out, "write_id", one.write.write_id);
      put(out, "capability", one.write.operation);
      put(out, "status", std::string_view(to_string(one.write.state)));
      if (!one.stays_because.empty()) put(out, "stays_because", printable(one.stays_because));
    });
  });
}

void run_transaction_step(const HandlerContextPtr& context, TransactionStep step,
                          std::function<void(std::variant<std::string, Error>)> done) {
  using What = TransactionStep::What;
  auto& transactions = context->writes.transactions;
  auto told = [done](std::variant<AgentTransaction, Error> outcome) {
    if (auto* error = std::get_if<Error>(&outcome)) return done(std::move(*error));
    done(transaction_json(std::get<AgentTransaction>(outcome)));
  };
  switch (step.what) {
    case What::kBegin:
      return transactions.begin(std::move(step.agent_id), std::move(step.session_id), step.for_ms, std::move(told));
    case What::kCommit:
      return transactions.commit(std::move(step.transaction_id), std::move(step.agent_id), std::move(told));
    case What::kStatus:
      return transactions.wait(std::move(step.transaction_id), std::move(step.agent_id), 0, std::move(told));
    case What::kRollBack:
      break;
  }
  transactions.undo(std::move(step.transaction_id), std::move(step.agent_id), std::move(step.reason), kUndoWaitMs,
                    std::move(told));
}

}  // namespace krux
