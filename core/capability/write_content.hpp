// What a write is made of: an agent's checked arguments with names resolved, and how the definition has it handled.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "core/capability/handler_context.hpp"

namespace krux {

/// Replaces names by ids through the account's adapter; canonical JSON. Throws krux::Error. On a worker.
std::string resolve_params(const ActiveAccount& account, const CallContextPtr& on, const std::string& operation,
                           const std::string& params_json);

/// The capability whose tier, delay and limits count for a write with these resolved parameters: `capability`, or what
/// it counts as. Throws krux::Error OperationBlocked when that is blocked.
const CapabilityDefinition& governing(const ServiceDefinition& definition, const CapabilityDefinition& capability,
                                      const JsonValue& params);

/// `resolved_json` is one JSON object, as resolve_params() gave it.
NewContent content_of(const HandlerOptions& options, const ServiceDefinition& definition,
                      const CapabilityDefinition& capability, const CheckedArguments& arguments,
                      std::string resolved_json);

/// The account that the write was accepted for, in its generation. Throws krux::Error NotConnected.
ActiveAccountPtr must_be_connected(const AccountDirectory& accounts, const WriteRecord& write);

/// Whether the write runs at once, without a window.
bool runs_at_once(const HandlerOptions& options, const CapabilityDefinition& capability);

struct EditRequest {
  std::string write_id;
  std::string agent_id;        ///< empty: the operator
  std::string shown_hash;      ///< the content that was looked at; empty: the present one
  std::string arguments_json;  ///< the inputs that change; null takes one back to its default
  std::string who;
};

/// Loads the write, checks and resolves what it becomes, and has the ledger replace it. `done` runs once, on any
/// thread, and must not block.
void edit_write(const HandlerContextPtr& context, EditRequest request,
                std::function<void(std::variant<WriteRecord, Error>)> done);

}  // namespace krux
