#include "core/policy/analysis/rule_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "core/policy/policy.hpp"
#include "core/util/durations.hpp"

namespace krux {
namespace {

constexpr std::int64_t kHostDelayMs = 30'000;

const CapabilityDefinition* capability_named(const Definitions& definitions, const std::string& name) {
  for (const auto& definition : definitions) {
    if (const auto* found = definition->find(name)) return found;
  }
  return nullptr;
}

/// Agents for whom some rule of these may apply and another not.
std::vector<std::string> agents_of(const std::vector<const RuleSet*>& sets) {
  std::vector<std::string> patterns;
  for (const auto* set : sets) {
    for (const auto& rule : set->rules()) patterns.insert(patterns.end(), rule.agents.begin(), rule.agents.end());
  }
  auto agents = samples_of_agents(patterns);
  // A name that nobody has thought of comes last: where it makes no difference, one that was named is shown.
  std::stable_partition(agents.begin(), agents.end(), [&](const std::string& agent) {
    return std::find(patterns.begin(), patterns.end(), agent) != patterns.end();
  });
  return agents;
}

bool can_match(const Rule& rule, const Definitions& definitions, std::int64_t from_ms) {
  const auto conditions = pointers_to(rule.when);
  return std::any_of(rule.covers.begin(), rule.covers.end(), [&](const std::string& name) {
    const auto* capability = capability_named(definitions, name);
    return capability && RequestSpace(*capability, conditions, Bounds::kDefinition, from_ms).find(conditions);
  });
}

/// As strict as `theirs`, wherever that counts.
bool is_as_strict(const Limit& mine, bool escalates, const Limit& theirs, bool theirs_escalates) {
  const auto has = [&](const std::string& operation) {
    return std::find(mine.operations.begin(), mine.operations.end(), operation) != mine.operations.end();
  };
  return (mine.key.empty() || mine.key == theirs.key) && (theirs_escalates || !escalates) &&
         most_within(mine, theirs.window_ms) <= theirs.limit &&
         std::all_of(theirs.operations.begin(), theirs.operations.end(), has);
}

bool demands_as_much(const Rule& rule, const Rule& than) {
  if (rule.tier.value_or(Tier::kAutonomous) < than.tier.value_or(Tier::kAutonomous)) return false;
  if (rule.tier == Tier::kBlocked) return true;
  if (rule.delay_ms.value_or(0) < than.delay_ms.value_or(0)) return false;
  if (rule.approvals.value_or(0) < than.approvals.value_or(0)) return false;
  if (than.expires_ms && (!rule.expires_ms || *rule.expires_ms > *than.expires_ms)) return false;
  return !than.limit ||
         (rule.limit && is_as_strict(limit_of(rule), rule.limit->escalate, limit_of(than), than.limit->escalate));
}

bool includes_all(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// Whether `other` matches wherever `rule` does.
bool always_matches_too(const Rule& other, const Rule& rule, const Definitions& definitions,
                        const std::vector<std::string>& agents, std::int64_t from_ms) {
  if (!includes_all(other.covers, rule.covers)) return false;
  for (const auto& agent : agents) {
    if (is_for_agent(rule, agent) && !is_for_agent(other, agent)) return false;
  }
  const auto conditions = conditions_of({&rule, &other});
  return std::all_of(rule.covers.begin(), rule.covers.end(), [&](const std::string& name) {
    const auto* capability = capability_named(definitions, name);
    if (!capability) return true;
    const RequestSpace space(*capability, conditions, Bounds::kDefinition, from_ms);
    return !space.find(pointers_to(rule.when), {pointers_to(other.when)});
  });
}

/// One question: what the old side demands, and which rules of the new one demand as much.
struct Demand {
  Loosened::Part part;
  const Rule* rule;  ///< of the old side; nullptr: what stands below the rules
  std::string old_words, new_words;
  std::function<bool(const Rule&)> met_by;
};

/// The two sides' definitions and rules about one capability.
class Comparison {
 public:
  Comparison(const PolicySide& before, const PolicySide& now, const CapabilityDefinition& capability,
             std::int64_t from_ms)
      : before_(before),
        now_(now),
        old_(capability),
        new_(*capability_named(now.definitions, capability.name)),
        from_ms_(from_ms) {}

  void look(const std::string& agent, std::vector<Loosened>& found) {
    const auto& old_rules = before_.rules.compiled(agent, old_.name).rules();
    new_rules_ = now_.rules.compiled(agent, old_.name).rules();
    if (!seen_.insert({old_rules, new_rules_}).second) return;  // other agents with the same rules
    auto all = old_rules;
    all.insert(all.end(), new_rules_.begin(), new_rules_.end());
    const RequestSpace space(new_, conditions_of(all), Bounds::kDefinition, from_ms_);
    for (const auto& demand : demands(old_rules)) {
      const auto known = [&](const Loosened& one) { return one.capability == old_.name && one.part == demand.part; };
      if (std::any_of(found.begin(), found.end(), known)) continue;
      if (auto request = escape(space, demand))
        found.push_back({demand.part, old_.name, agent, *std::move(request), demand.old_words, demand.new_words});
    }
  }

 private:
  std::optional<SampleRequest> escape(const RequestSpace& space, const Demand& demand) const {
    std::vector<ConditionList> failing;
    for (const auto* rule : new_rules_) {
      if (demand.met_by(*rule)) failing.push_back(pointers_to(rule->when));
    }
    return space.find(demand.rule ? pointers_to(demand.rule->when) : ConditionList(), failing);
  }

  std::vector<Demand> demands(const std::vector<const Rule*>& old_rules) const {
    std::vector<Demand> all;
    add_demands(nullptr, all);
    for (const auto* rule : old_rules) add_demands(rule, all);
    return all;
  }

  void add_demands(const Rule* rule, std::vector<Demand>& all) const {
    const auto tier = rule ? rule->tier.value_or(Tier::kAutonomous) : old_.tier;
    if (tier >= Tier::kApprovalRequired && tier > new_.tier)
      all.push_back({Loosened::Part::kTier, rule, demanded(to_string(tier), rule), to_string(new_.tier),
                     [tier](const Rule& r) { return r.tier && *r.tier >= tier; }});
    if (old_.kind != CapabilityKind::kWrite || new_.tier == Tier::kBlocked) return;
    if (rule && rule->approvals) add_approvals(*rule, all);
    const auto delay = rule ? rule->delay_ms.value_or(0) : base_delay_ms(old_);
    if (delay > base_delay_ms(new_))
      all.push_back({Loosened::Part::kDelay, rule, demanded("a delay of " + span_in_words(delay), rule),
                     span_in_words(base_delay_ms(new_)),
                     [delay](const Rule& r) { return r.tier == Tier::kBlocked || r.delay_ms.value_or(0) >= delay; }});
    if (rule && rule->limit) add_limit(rule, limit_of(*rule), rule->limit->escalate, all);
    if (!rule) {
      const auto& definition = definition_of(before_);
      for (const auto& limit : definition.limits) {
        if (counts(limit)) add_limit(nullptr, limit, definition.escalate_on_exceed, all);
      }
    }
  }

  static void add_approvals(const Rule& rule, std::vector<Demand>& all) {
    const auto approvals = *rule.approvals;
    all.push_back(
        {Loosened::Part::kApprovals, &rule, demanded(approvals_in_words(approvals), &rule), "fewer people",
         [approvals](const Rule& r) { return r.tier == Tier::kBlocked || r.approvals.value_or(0) >= approvals; }});
  }

  void add_limit(const Rule* rule, const Limit& limit, bool escalates, std::vector<Demand>& all) const {
    const auto& definition = definition_of(now_);
    for (const auto& other : definition.limits) {
      if (counts(other) && is_as_strict(other, definition.escalate_on_exceed, limit, escalates)) return;
    }
    all.push_back({Loosened::Part::kLimit, rule, demanded("at most " + in_words(limit), rule), "no such limit",
                   [limit, escalates](const Rule& r) {
                     return r.tier == Tier::kBlocked ||
                            (r.limit && is_as_strict(limit_of(r), r.limit->escalate, limit, escalates));
                   }});
  }

  bool counts(const Limit& limit) const {
    return std::find(limit.operations.begin(), limit.operations.end(), old_.name) != limit.operations.end();
  }
  const ServiceDefinition& definition_of(const PolicySide& side) const {
    for (const auto& definition : side.definitions) {
      if (definition->find(old_.name)) return *definition;
    }
    return *side.definitions.front();
  }

  const PolicySide &before_, &now_;
  const CapabilityDefinition &old_, &new_;
  const std::int64_t from_ms_;
  std::vector<const Rule*> new_rules_;
  std::set<std::pair<std::vector<const Rule*>, std::vector<const Rule*>>> seen_;
};

}  // namespace

std::int64_t base_delay_ms(const CapabilityDefinition& capability) {
  return capability.immediate ? 0 : capability.delay_ms.value_or(kHostDelayMs);
}

std::string demanded(const std::string& what, const Rule* rule) {
  if (!rule) return what + " by the definition and the service's policy";
  return fmt::format("{} by {}:{} ({})", what, rule->file, rule->line, rule->name);
}

std::vector<IdleRule> idle_rules(const RuleSet& rules, const Definitions& definitions, std::int64_t from_ms) {
  const auto agents = agents_of({&rules});
  std::vector<IdleRule> idle;
  const auto is_idle = [&](const Rule* rule) {
    return std::any_of(idle.begin(), idle.end(), [&](const IdleRule& one) { return one.rule == rule; });
  };
  for (const auto& rule : rules.rules()) {
    if (!can_match(rule, definitions, from_ms)) idle.push_back({&rule, nullptr});
  }
  // From the end: of two that say the same the first one stays.
  for (auto rule = rules.rules().rbegin(); rule != rules.rules().rend(); ++rule) {
    if (is_idle(&*rule)) continue;
    for (const auto& other : rules.rules()) {
      if (&other == &*rule || is_idle(&other) || !demands_as_much(other, *rule)) continue;
      if (!always_matches_too(other, *rule, definitions, agents, from_ms)) continue;
      idle.push_back({&*rule, &other});
      break;
    }
  }
  std::sort(idle.begin(), idle.end(), [](const IdleRule& a, const IdleRule& b) { return a.rule < b.rule; });
  return idle;
}

std::vector<Loosened> loosened(const PolicySide& before, const PolicySide& now, std::int64_t from_ms) {
  const auto agents = agents_of({&before.rules, &now.rules});
  std::vector<Loosened> found;
  for (const auto& definition : before.definitions) {
    for (const auto& capability : definition->capabilities) {
      const bool covered = capability.kind == CapabilityKind::kRead || capability.kind == CapabilityKind::kWrite;
      if (!covered || !capability_named(now.definitions, capability.name)) continue;
      Comparison comparison(before, now, capability, from_ms);
      for (const auto& agent : agents) comparison.look(agent, found);
    }
  }
  return found;
}

}  // namespace krux
