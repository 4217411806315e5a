// What a write is made of: an agent's checked arguments with names resolved, and how the definition has it handled.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "core/capability/call_rules.hpp"
#include "core/capability/handler_context.hpp"

namespace krux {

/// Of one JSON object in canonical form, which is parsed here and nowhere else.
ResolvedParams params_of(std::string canonical_json);

/// Replaces names by ids through the account's adapter. Throws krux::Error. On a worker.
ResolvedParams resolve_params(const ActiveAccount& account, const CallContextPtr& on, const std::string& operation,
                              ResolvedParams given);

/// What counts for a write with these parameters: tier, delay and limits of the call's capability, or of what it counts
/// as, and what the operator's rules demand of it.
struct Governing {
  const CapabilityDefinition& capability;
  Ruling ruling;
  std::string agent;  ///< as rules know it
  std::int64_t delay_ms = 0;
  bool at_once = false;  ///< without a window in which it could be taken back
};
/// Of a call whose parameters are resolved, of the agent of that name and id. Throws krux::Error OperationBlocked when
/// what it counts as is blocked, and where the account's connection does not cover it; PolicyDenied where a rule blocks
/// it.
Governing governing(const HandlerContext& context, const CheckedCall& call, std::string_view agent,
                    std::string_view agent_id, std::int64_t accepted_ms = 0);

/// What the summary of such a write calls its records. On a worker.
SummaryNames names_for_summary(const ActiveAccount& account, const CapabilityDefinition& capability,
                               const JsonValue& resolved);

/// `shown`: the arguments as they were given.
NewContent content_of(const HandlerOptions& options, const CheckedCall& call, const Governing& by,
                      const CheckedArguments& shown);

/// Why a person is asked about each write of the capability, a sentence; empty: nobody is.
std::string why_asked(const CapabilityDefinition& capability);
/// Of a limit's key, as LimitRule::key_value has it.
std::string key_value_of(const std::string& key, const JsonValue& params);
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
void must_have_window(const Governing& by);

struct EditRequest {
  std::string write_id;
  std::string agent_id;        ///< empty: the operator
  std::string shown_hash;      ///< the content that was looked at; empty: the present one
  std::string arguments_json;  ///< the inputs that change; null takes one back to its default
  DecidingOperator by;
};

/// Loads the write, checks and resolves what it becomes, and has the ledger replace it. `done` runs once, on any
/// thread, and must not block.
void edit_write(const HandlerContextPtr& context, EditRequest request,
                std::function<void(std::variant<WriteRecord, Error>)> done);

}  // namespace krux
