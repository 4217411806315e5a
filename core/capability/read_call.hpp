// Reads: answered by the account's adapter from its replica.
#pragma once

#include "core/capability/handler_context.hpp"
#include "core/replica/replica_reader.hpp"

namespace krux {

void run_read(const HandlerContextPtr& context, const CheckedCallPtr& call);

/// `result` (one valid JSON object, see ServiceAdapter::read) with what the host adds: `freshness`, `content_trust`
/// and, when there are any, `pending_writes`. Throws krux::Error ServiceUnavailable when it has one of these already.
std::string finish_read(std::string result, const ReplicaFreshness& freshness, std::int64_t now_ms,
                        const std::string& service, const OpenWritesFound& pending = {},
                        WriteNames names = WriteNames::kAll);

}  // namespace krux
