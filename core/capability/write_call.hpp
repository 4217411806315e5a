// Writes: into the durable buffer.
#pragma once

#include "core/capability/handler_context.hpp"

namespace krux {

/// Uploads and names are resolved, the write is submitted; a buffered one is answered as soon as it is durable, an
/// immediate one when it has ended, or with its present state after the time for that.
void run_write(const HandlerContextPtr& context, const std::shared_ptr<CheckedCall>& call);

/// Takes back the write that the arguments name.
void run_cancel(const HandlerContextPtr& context, const CheckedCallPtr& call);

/// Replaces the content of a write that has not been attempted.
void run_edit(const HandlerContextPtr& context, const CheckedCallPtr& call);

/// Undoes a completed write; answered like an immediate one.
void run_rollback(const HandlerContextPtr& context, const CheckedCallPtr& call);

/// The agent's write with that id: another agent's does not exist for it. Throws krux::Error InvalidInput.
WriteRecord own_write(const HandlerContext& context, const std::string& agent_id, const std::string& write_id);
/// Of one that was waited for and could not be read in the end.
Error not_readable_now();

/// The `write_id` argument. Throws krux::Error InvalidInput unless it can be one.
std::string write_id_of(const CheckedCall& call);

}  // namespace krux
