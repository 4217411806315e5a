// What a person has decided about a write that waited for approval.
#pragma once

#include "core/capability/handler_context.hpp"

namespace krux {

/// {approval_id, status, resolved, approved, reason, write}: `status` is "pending", "approved", "rejected", "cancelled"
/// or "discarded", `reason` why it was not approved, `write` as proxy.write_status tells it (`whole`: with arguments
/// and result).
std::string approval_json(const WriteRecord& write, bool whole, const std::string& recipients_json = {});

/// See CapabilityHandler::asked_approval().
void find_asked_approval(const HandlerContextPtr& context, const std::string& agent_id, const std::string& write_id,
                         std::function<void(AskedOutcome)> done);

/// See CapabilityHandler::approval().
void tell_of_approval(const HandlerContextPtr& context, const std::string& agent_id, const std::string& write_id,
                      std::int64_t wait_ms, std::function<void(std::variant<std::string, Error>)> done);

}  // namespace krux
