// What the files of the host's own capabilities share: a definition and who runs it. Internal to the room.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/capability/handler_context.hpp"

namespace krux {

struct HostCapability {
  CapabilityDefinition definition;
  void (*run)(const HandlerContextPtr& context, const CheckedCallPtr& call);
};

// One file each: proxy.*, agent.*, alerts.*, state.briefing.*; and state.*
std::vector<HostCapability> write_capabilities();
std::vector<HostCapability> agent_capabilities();
std::vector<HostCapability> alert_capabilities();
std::vector<HostCapability> briefing_capabilities();
std::vector<HostCapability> state_capabilities();

CapabilityDefinition host_capability(const char* name, CapabilityKind kind, const char* purpose,
                                     const char* when_to_use, const char* tag);
InputDefinition host_text(const char* name, const char* description, std::size_t most = 64);
InputDefinition host_number(const char* name, const char* description, std::int64_t least, std::int64_t most,
                            const char* usual);
OutputDefinition host_output(const char* name, InputType type, const char* description);

/// An argument of the call; empty where it was not given.
std::string text_argument(const CheckedCall& call, const char* name);

void answer_with(const CheckedCallPtr& call, WorkAnswer text);
/// What reads: `work` makes the answer on a worker.
void answer_on_worker(const HandlerContextPtr& context, const CheckedCallPtr& call,
                      std::function<std::string(const HandlerContext&, const CheckedCall&)> work);

}  // namespace krux
