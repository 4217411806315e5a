// What other rules would have decided about calls that the audit log tells of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/definition/definition.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule_set.hpp"
#include "core/util/json.hpp"

namespace krux {

/// A decision as a row of the audit log keeps it (docs/audit.md): some inputs with their values, of all their sizes.
struct PastDecision {
  std::int64_t seq = 0, at_ms = 0;
  std::string agent, capability;  ///< the agent's name
  std::string write_id;           ///< empty: of a read, or of what was refused
  Tier tier = Tier::kAutonomous;  ///< what was demanded
  std::string decided_by;         ///< "FILE:LINE (name)", or empty: definition and service's policy
  JsonDocument looked_at{rapidjson::kObjectType}, sizes{rapidjson::kObjectType};
  std::map<std::string, Truth, std::less<>> facts;
};

/// Of a row as `kruxos audit query --json` gives it. Nothing: it tells of no decision.
std::optional<PastDecision> past_decision(const JsonValue& row);

struct Replayed {
  enum class Verdict { kSame, kStricter, kLooser, kNotKnown } verdict = Verdict::kSame;
  Tier tier = Tier::kAutonomous;  ///< demanded now; where that is not known, at least
  const Rule* rule = nullptr;     ///< by it; nullptr: by definition and service's policy
  std::string why;                ///< of kNotKnown: what the log has not kept, a sentence
};

/// By the rules now: their tier, over that of definition and service's policy. Where the log does not have what a rule
/// looks at, and the answer depends on it, it is not known; nothing is guessed. Delays and limits are not replayed.
/// `capability` is the one that was called, `counted` what the call counts as (mostly itself).
Replayed replay(const PastDecision& past, const CapabilityDefinition& capability, const CapabilityDefinition& counted,
                const RuleSet& now);

}  // namespace krux
