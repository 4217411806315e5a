// What a connection is open to: its scopes, and what its profile leaves out.
#pragma once

#include <string>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// The scopes that the capability needs and the account certainly lacks.
std::vector<std::string> missing_scopes(const CapabilityDefinition& capability, const ActiveAccount& account);

/// Whether the account's profile leaves the capability out.
bool left_out(const CapabilityDefinition& capability, const ActiveAccount& account);

/// Throws krux::Error for either: OperationBlocked, PolicyDenied.
void must_be_open_to(const CapabilityDefinition& capability, const ActiveAccount& account);

/// What a write with these resolved parameters counts as: `capability`, or another one of the definition.
const CapabilityDefinition& counted_capability(const ServiceDefinition& definition,
                                               const CapabilityDefinition& capability, const JsonValue& params);

}  // namespace krux
