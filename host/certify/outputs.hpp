// Results and parameters against a capability's definition.
#pragma once

#include <string>

#include "core/definition/definition.hpp"

namespace krux::certify {

/// Throws CheckFailed where `result_json` (one JSON object) has an output of another type than the definition says, has
/// a member that is the host's own, or, with `all`, lacks one; a Boolean may be left out, for false.
void check_outputs(const CapabilityDefinition& capability, const std::string& result_json, bool all);

/// Parameters that no host would let through, of the definition's names: `kind` 0: other types, 1: empty texts and
/// extreme numbers, 2: long texts with everything that should be escaped.
std::string with_odd_values(const CapabilityDefinition& capability, int kind);

}  // namespace krux::certify
