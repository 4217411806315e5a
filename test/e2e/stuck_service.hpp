// A service of stuck_adapter.cpp: its reads do not end while the file "stuck" of the rig exists.
#pragma once

#include "host_rig.hpp"
#include "support/safe_file.hpp"

namespace krux::test {

inline constexpr const char* kStuckDefinition = R"(schema: 1
service: stuck
prefix: stuck
display_name: Stuck
description: A service whose adapter hangs.
version: 1.0.0
adapter: {min_version: 1.0.0, below_version: 2.0.0}
api_base_url: https://stuck.example/
hosts: [stuck.example]
call_timeout: 10 s
connect: {token_pattern: "stuck-[a-z]+", help: "Any token."}
capabilities:
  - {name: stuck.read, kind: read, tier: autonomous, purpose: Read., when_to_use: Never., tags: [stuck], inputs: [],
     outputs: [{name: nothing, type: String, description: Nothing.}]}
)";

/// Begins the rig with this service, connected, beside its own.
inline void begin_with_stuck(HostRig& rig, bool isolated) {
  support::copy_safe(KRUXOS_STUCK_ADAPTER, rig.path("adapters/stuck.so"));
  support::write_safe(rig.path("definitions/stuck.yaml"), kStuckDefinition);
  rig.config_text += std::string("  stuck: {isolation: ") + (isolated ? "process" : "in_process") +
                     ", adapter: {file: " + rig.path("stuck").string() + "}}\n";
  rig.begin();
  REQUIRE(rig.kruxos({"connect", "stuck"}, "stuck-token\n").status.ok());
}

}  // namespace krux::test
