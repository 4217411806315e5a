// A bundle's policy file: what its author holds agents to beyond the definition. It can only tighten. docs/bundles.md
// describes the format.
#pragma once

#include <string>
#include <string_view>

#include "core/capability/definition.hpp"

namespace krux {

/// The newest `policy:` that this program reads.
inline constexpr std::int64_t kBundlePolicyVersion = 1;

/// The definition with the policy applied. `name` stands in the sentences where a file's name would. Throws ConfigError
/// "file:line:column: what is wrong" for what is looser than the definition, and for whatever it does not know.
ServiceDefinition tightened(ServiceDefinition definition, std::string_view policy, const std::string& name);

/// How many writes of one agent a limit may let through within `window_ms`, wherever that begins.
std::int64_t most_within(const BatchLimit& limit, std::int64_t window_ms);

}  // namespace krux
