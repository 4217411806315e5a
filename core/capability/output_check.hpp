// A read's result against what its definition promises.
#pragma once

#include <string>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// A sentence where `result` has an output of another type than the definition says, has a member that is the host's
/// own, or, with `all`, lacks one; a Boolean may be left out, for false. Empty: it fits.
std::string output_problem(const CapabilityDefinition& capability, const JsonValue& result, bool all);

}  // namespace krux
