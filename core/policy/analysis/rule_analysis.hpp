// What can be said of rules without a request: which of them do nothing, and whether a change permits more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/policy/analysis/request_space.hpp"
#include "core/policy/rules/rule_parser.hpp"
#include "core/policy/rules/rule_set.hpp"

namespace krux {

using Definitions = std::vector<std::shared_ptr<const ServiceDefinition>>;

struct IdleRule {
  const Rule* rule = nullptr;
  const Rule* instead = nullptr;  ///< the one that makes it needless; nullptr: it can never match
};
/// Rules that can never match a request that the definitions allow, and rules without which nothing would be decided
/// otherwise, since another one matches wherever they do and demands as much. Throws TooManyCases.
std::vector<IdleRule> idle_rules(const RuleSet& rules, const Definitions& definitions, std::int64_t from_ms);

/// Rules and the definitions under the services' policies that stand below them.
struct PolicySide {
  const RuleSet& rules;
  const Definitions& definitions;
};

/// A request that the old side held by a tier, a delay, a limit or a number of approvals which the new one does not
/// demand.
struct Loosened {
  enum class Part { kTier, kApprovals, kDelay, kLimit } part = Part::kTier;
  std::string capability, agent;
  SampleRequest request;
  std::string old_demand, new_demand;  ///< "blocked by FILE:LINE (name)"
};
/// For each capability and part one, where there is any: of tiers those that hold a call (approval_required, blocked).
/// A limit counts as kept where one limit of the new side is at least as strict. Throws TooManyCases.
std::vector<Loosened> loosened(const PolicySide& before, const PolicySide& now, std::int64_t from_ms);

/// The delay without rules: the definition's under its policy, else the host's default.
std::int64_t base_delay_ms(const CapabilityDefinition& capability);

/// "blocked by FILE:LINE (name)"; `rule` may be null: by definition and service's policy.
std::string demanded(const std::string& what, const Rule* rule);

}  // namespace krux
