// What the operator's rules demand of calls, over what definitions and services' policies say.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/capability/handler_context.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule_set.hpp"
#include "core/util/json_out.hpp"

namespace krux {

struct Ruling {
  RuleSetPtr set;  ///< whose rules `decision` names
  RuleDecision decision;
  bool counts = false;                   ///< some rule limits writes of this kind, if not this one
  std::map<std::string, Truth> facts{};  ///< that were asked for it

  bool blocks() const { return decision.tier == Tier::kBlocked; }
  bool asks() const { return decision.tier == Tier::kApprovalRequired; }
  /// So many people are asked, where more than one is.
  std::int64_t approvals() const { return asks() ? decision.approvals : 0; }
  /// The one that blocks or asks, and of those that ask the one that wants most people; may be null.
  const Rule* tier_rule() const { return approvals() > 1 ? decision.approvals_rule : decision.tier_rule; }
};

/// Those that are in force; none where the host has none.
RuleSetPtr rules_in_force(const HandlerContext& context);

/// Whether a decision about the agent's calls of the capability depends on their parameters.
bool rules_look_into(const RuleSet& rules, std::string_view agent, const CapabilityDefinition& capability);

/// Whose call it is, as rules and as facts know it. Refers to what it is given.
struct RuledCall {
  std::string_view agent;  ///< its name
  FactContext about{};
};

/// What facts know of a write by now: its content is as old as it is.
FactContext facts_about(const WriteRecord& write);

/// About a call with these resolved parameters that counts as `counted` (mostly itself): tier and delay of both, limits
/// of what it counts as.
Ruling ruling_on(const HandlerContext& context, RuleSetPtr set, const RuledCall& call,
                 const CapabilityDefinition& capability, const CapabilityDefinition& counted, const JsonValue& params);

/// About every call of it that comes now, whatever stands in it: where its parameters are not resolved.
Ruling ruling_on_any(const HandlerContext& context, RuleSetPtr set, std::string_view agent,
                     const CapabilityDefinition& capability);

/// Of a read, before anybody is asked for it. `on`: names are resolved where a rule looks at them. Throws krux::Error
/// PolicyDenied, or ApprovalRequired.
void must_be_allowed_to_read(const HandlerContext& context, const CheckedCall& call, const CallContextPtr& on);

/// The same of one of the host's own, which no account has.
void must_be_allowed_here(const HandlerContext& context, const CheckedCall& call);

/// The same of what was decided about a read.
void must_not_be_ruled_out(const Ruling& ruling, const CapabilityDefinition& capability);

/// Whether a read without any input would be allowed.
bool may_be_shown_now(const HandlerContext& context, const std::string& agent_id, const CapabilityDefinition& read);

/// PolicyDenied, of a ruling that blocks.
Error denied(const Ruling& ruling, const std::string& capability);
/// Why it is blocked, or a person asked, a sentence; empty: by no rule.
std::string why_ruled(const Ruling& ruling, const std::string& capability);
/// One object of put_decider(): the rule that has decided about its tier, or how many are asked.
std::string tier_rule_json(const Ruling& ruling);
/// Limits as they count for a write with these parameters.
std::vector<LimitRule> limit_rules(const Ruling& ruling, const JsonValue& params);

/// What each call of the capability has, whatever stands in it: the stricter of definition and rules.
struct AlwaysRuled {
  Tier tier = Tier::kAutonomous;
  std::int64_t delay_ms = 0;
};
AlwaysRuled always_ruled(const RuleSet& rules, std::string_view agent, const CapabilityDefinition& capability);

struct MatchingRule {
  const Rule* rule = nullptr;
  std::vector<std::string> because;  ///< what has shown its facts, for the operator; sentences
};

/// Why the agent is not told what changes in the state that agents share: the host has none, or rules block or ask
/// before each state.shared.get of it. Looks at no database.
std::optional<Error> why_not_hear_state(const HandlerContext& context, const std::string& agent_id);

/// A call of the agent that has succeeded, where rules ask about it.
void note_call(const HandlerContext& context, const CheckedCall& call, std::int64_t at_ms);

/// Members of an object: what the rule asks for, under which conditions. `whole`: with its file and line, for the
/// operator.
void put_rule(JsonWriter& out, const Rule& rule, bool whole);
/// The same of one that matches a write, for the operator.
void put_rule(JsonWriter& out, const MatchingRule& matching);

/// Under which name rules know the agent.
std::string agent_name_of(const HandlerContext& context, const std::string& agent_id);
std::string agent_name_of(const HandlerContext& context, const Invocation& invocation);

/// The rules that match a write as it stands and by now, by layer, file and line. `set` must outlive what is returned.
std::vector<MatchingRule> rules_on_write(const HandlerContext& context, const RuleSet& set, const WriteRecord& write);

}  // namespace krux
