// Who decided about a call: one of the operator's rules, or a definition. In one form for agents, the operator and the
// audit log (docs/audit.md).
#pragma once

#include <string>
#include <string_view>

#include "core/util/json.hpp"

namespace krux {

/// Whose file a rule stands in. All are equal in what they decide; the first is named where two say the same.
enum class RuleLayer { kSystem, kOrganisation, kAgent };
const char* to_string(RuleLayer layer);

/// Which rule it is.
struct RuleName {
  RuleLayer layer = RuleLayer::kSystem;
  std::string file;
  int line = 0;
  std::string name, reason;
};

/// Members of an object: which rule it is. `whole`: with its file and line, for the operator and the audit log.
void put_name(JsonWriter& out, const RuleName& rule, bool whole);

/// Members of an object: what an agent is told of the rule that has decided.
void put_decider(JsonWriter& out, const RuleName& rule);

/// The member `name`: the rule, whole.
void put_rule_decider(JsonWriter& out, std::string_view name, const RuleName& rule);

/// The member "decided_by" where no rule did: the version of the definition, with what its service's policy changes,
/// and the capability that it counts as.
void put_definition_decider(JsonWriter& out, std::string_view version, std::string_view capability);

}  // namespace krux
