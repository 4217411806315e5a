// The capabilities that the host itself answers.
#pragma once

#include "core/capability/handler_context.hpp"

namespace krux {

/// proxy.* (writes), agent.*, alerts.* and state.briefing.generate. Their category is what stands before the dot.
const std::shared_ptr<const ServiceDefinition>& host_definition();
/// The rest of state.*: what agents note. A definition of its own, which rules are about as they are about services'.
const std::shared_ptr<const ServiceDefinition>& state_definition();

/// Whether a call of it can be asked to wait, and whether this one is.
bool can_wait(const CapabilityDefinition& capability);
bool waits(const CheckedCall& call);

void run_host_capability(const HandlerContextPtr& context, const CheckedCallPtr& call);

}  // namespace krux
