// What a write is made of: an agent's checked arguments with names resolved, and how the definition has it handled.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "core/capability/handler_context.hpp"

namespace krux {

/// Of one JSON object in canonical form, which is parsed here and nowhere else.
ResolvedParams params_of(std::string canonical_json);

/// Replaces names by ids through the account's adapter. Throws krux::Error. On a worker.
ResolvedParams resolve_params(const ActiveAccount& account, const CallContextPtr& on, const std::string& operation,
                              ResolvedParams given);

/// The capability whose tier, delay and limits count for a write with these parameters: the call's, or what it counts
/// as. Throws krux::Error OperationBlocked when that is blocked, and where the account's connection does not cover it.
const CapabilityDefinition& governing(const CheckedCall& call);

/// Of a call whose parameters are resolved. `shown`: the arguments as they were given; `rules`: what governs it.
NewContent content_of(const HandlerOptions& options, const CheckedCall& call, const CapabilityDefinition& rules,
                      const CheckedArguments& shown);

/// Why a person is asked about each write of the capability, a sentence; empty: nobody is.
std::string why_asked(const CapabilityDefinition& capability);
/// What counts for a write with these resolved parameters.
std::vector<LimitRule> rules_for(const HandlerOptions& options, const ServiceDefinition& definition,
                                 const CapabilityDefinition& capability, const JsonValue& params);

/// The account that the write was accepted for, in its generation. Throws krux::Error NotConnected.
ActiveAccountPtr must_be_connected(const AccountDirectory& accounts, const WriteRecord& write);

/// The buffer window, as it is configured.
std::int64_t delay_of(const HandlerOptions& options, const CapabilityDefinition& capability);
/// Whether the write runs at once, without a window in which it could be taken back.
bool runs_at_once(const CapabilityDefinition& capability, std::int64_t delay_ms);
/// Throws krux::Error InvalidInput of what runs at once.
void must_have_window(const HandlerOptions& options, const CapabilityDefinition& capability);

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
