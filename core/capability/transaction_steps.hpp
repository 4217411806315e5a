// What an agent does with a transaction, apart from the writes in it.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "core/capability/handler_context.hpp"
#include "core/write/transactions.hpp"

namespace krux {

/// As CapabilityHandler::transaction().
void run_transaction_step(const HandlerContextPtr& context, TransactionStep step,
                          std::function<void(std::variant<std::string, Error>)> done);

/// {transaction, state, until, ended_at, reason, writes: [{write_id, capability, status, stays_because}]}; what there
/// is not is left out.
std::string transaction_json(const AgentTransaction& transaction);

}  // namespace krux
