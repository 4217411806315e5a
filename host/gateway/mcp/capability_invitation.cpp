// A wait for a write that first leads its client's user to the operator's page, in the stateless model.
#include "core/util/error.hpp"
#include "host/gateway/mcp/capability_call.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {

void CapabilityCall::begin_inviting() {
  try {
    // What it says is not needed: by the key of an answer it is known what was asked.
    if (options_.given.request_state) parts_.seal.open(name(), *options_.given.request_state);
  } catch (const Error& error) {
    return refuse({rpc_code::kInvalidParams, error.what(), {}}, kBadRequest);
  }
  parts_.api.asked_approval(
      options_.caller->agent.agent_id, options_.invites->write_id,
      [self = shared_from_this()](const AskedOutcome& outcome) { self->invite_or_wait(approval_in(outcome)); });
}

/// An answer ends the asking, whatever it says; the wait begins then.
void CapabilityCall::invite_or_wait(const std::optional<AskedApproval>& approval) {
  const auto& agent = options_.caller->agent;
  if (!approval) return invoke({}, {});
  const Invitation invitation{*approval, agent.name, options_.invites->page_port};
  const auto given = given_.find(invitation.key());
  if (given != given_.end()) {
    try {
      invitation.check_answer(given->second);
    } catch (const Error& error) {
      return refuse({rpc_code::kInvalidParams, error.what(), {}}, kBadRequest);
    }
    parts_.invitations.answered({agent.agent_id, {}}, *approval);
  }
  if (!parts_.invitations.is_open({agent.agent_id, {}}, *approval)) return invoke({}, {});
  const auto sealed = parts_.seal.seal(name(), {{}, {}, {}, 1, 0});
  finish(json_object([&](JsonWriter& out) {
    put_result_frame(out, "input_required");
    put_raw(out, "inputRequests", invitation.input_requests());
    put(out, "requestState", sealed);
  }));
}

}  // namespace krux::mcp
