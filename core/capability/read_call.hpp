// Reads: answered by the account's adapter from its replica.
#pragma once

#include "core/capability/handler_context.hpp"
#include "core/replica/replica_reader.hpp"

namespace krux {

/// Of a read: the inputs that its target names, as the adapter resolves them. Throws krux::Error where it cannot.
JsonDocument resolved_target_inputs(const CheckedCall& call, const CallContextPtr& on);

/// What was read of a service, or of what other agents have written, is noted for rules: before the agent is answered,
/// so that no write of its own is asked about without it. Of a call that was given up meanwhile nobody is told, and
/// what it would note in may be gone.
void note_read(const HandlerContext& context, const CheckedCall& call, const CallContextPtr& on,
               const std::string& result_json);

void run_read(const HandlerContextPtr& context, const CheckedCallPtr& call);

/// Throws krux::Error InvalidInput: what was asked in a read of `asked_of` (Questions::account; empty: of none) is not
/// for this connecting of the account.
void must_be_asked_of(const std::string& asked_of, const ActiveAccount& account);

/// `result` (one valid JSON object, see ServiceAdapter::read) with what the host adds: `freshness`, `content_trust`
/// and, when there are any, `pending_writes`. Throws krux::Error ServiceUnavailable when it has one of these already.
std::string finish_read(std::string result, const ReplicaFreshness& freshness, std::int64_t now_ms,
                        const std::string& service, const OpenWritesFound& pending = {},
                        WriteNames names = WriteNames::kAll);

}  // namespace krux
