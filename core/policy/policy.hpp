// Policy files: what agents are held to besides the definition. docs/policies.md describes the format.
#pragma once

#include <string>
#include <string_view>

#include "core/definition/definition.hpp"

namespace krux {

/// The newest `policy:` that this program reads.
inline constexpr std::int64_t kPolicyVersion = 1;

/// Whose policy it is. A bundle's author can only tighten what the bundle's definition says; the operator may also
/// loosen it: lower tiers, shorten delays, open what is blocked to a person's approval, replace the limits.
enum class PolicyOf { kAuthor, kOperator };

/// The definition with the policy applied. `name` stands in the sentences where a file's name would. Throws ConfigError
/// "file:line:column: what is wrong" for what the policy's owner may not, and for whatever it does not know.
ServiceDefinition under_policy(ServiceDefinition definition, std::string_view policy, const std::string& name,
                               PolicyOf owner);

/// How many writes of one agent a limit may let through within `window_ms`, wherever that begins.
std::int64_t most_within(const Limit& limit, std::int64_t window_ms);

}  // namespace krux
