#include "core/account/permission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/scopes.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {

std::vector<std::string> missing_scopes(const CapabilityDefinition& capability, const ActiveAccount& account) {
  if (!account.scopes_known) return {};
  static const ImpliedScopes none;
  const auto& implied = account.definition ? account.definition->oauth.implied_scopes : none;
  return missing_from(implied, account.scopes, capability.required_scopes);
}

bool left_out(const CapabilityDefinition& capability, const ActiveAccount& account) {
  if (account.profile.empty() || !account.definition) return false;
  const auto* profile = account.definition->oauth.find_profile(account.profile);
  // What it allowed nobody knows any more.
  if (!profile) return capability.kind == CapabilityKind::kWrite;
  return std::find(profile->without.begin(), profile->without.end(), capability.name) != profile->without.end();
}

void must_be_open_to(const CapabilityDefinition& capability, const ActiveAccount& account) {
  if (left_out(capability, account))
    throw Error(ErrorCode::kPolicyDenied,
                fmt::format("The account {} is connected with the profile {}, which leaves {} out. Ask the operator to "
                            "connect it with another profile.",
                            printable(account.display_name), account.profile, capability.name));
  std::string missing;
  for (const auto& scope : missing_scopes(capability, account)) missing += (missing.empty() ? "" : ", ") + scope;
  if (!missing.empty())
    throw Error(ErrorCode::kOperationBlocked,
                fmt::format("{} needs what the account {} was not granted: {}. Ask the operator to connect it again "
                            "with that scope.",
                            capability.name, printable(account.display_name), missing));
}

const CapabilityDefinition& counted_capability(const ServiceDefinition& definition,
                                               const CapabilityDefinition& capability, const JsonValue& params) {
  for (const auto& rule : capability.counts_as) {
    const auto* value = find_member(params, rule.input);
    const auto holds = [&](const JsonValue& one) {
      return one.IsString() && std::count(rule.holds.begin(), rule.holds.end(), view(one)) > 0;
    };
    if (value && (value->IsArray() ? std::any_of(value->Begin(), value->End(), holds) : holds(*value)))
      return *definition.find(rule.capability);
  }
  return capability;
}

}  // namespace krux
