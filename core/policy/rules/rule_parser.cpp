#include "core/policy/rules/rule_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/definition/limit_parser.hpp"
#include "core/policy/analysis/request_space.hpp"
#include "core/policy/policy.hpp"
#include "core/policy/rules/condition_parser.hpp"
#include "core/util/durations.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostRules = 1000;

Tier parse_tier(const YamlValue& value) {
  const auto tier = value.choice_of<Tier>({{"autonomous", Tier::kAutonomous},
                                           {"notify", Tier::kNotify},
                                           {"approval_required", Tier::kApprovalRequired},
                                           {"blocked", Tier::kBlocked}});
  if (tier == Tier::kAutonomous)
    value.fail(
        "a rule only restricts, and autonomous restricts nothing. What the definition or the service's policy says is "
        "loosened in the service's policy.");
  return tier;
}

RuleLimit parse_limit(const YamlValue& value) {
  const YamlMap map(value, {"limit", "window", "per", "on_exceed"});
  RuleLimit limit;
  limit.limit = map.at("limit").integer(1, 1'000'000);
  limit.window_ms = map.at("window").duration_ms(kSecond, kLongestWindow);
  if (const auto v = map.find("per")) limit.key = v->line(32);
  if (const auto v = map.find("on_exceed")) limit.escalate = parse_on_exceed(*v);
  return limit;
}

std::vector<std::string> parse_agents(const YamlValue& value, const RuleSource& source) {
  if (source.layer == RuleLayer::kAgent)
    value.fail(
        fmt::format("the file's rules are the agent {}'s alone; rules for several stand in system.yaml or "
                    "organisation.yaml.",
                    source.agent));
  std::vector<std::string> agents;
  for (const auto& item : value.list(256)) {
    auto name = small_letters(item.line(64));
    check_pattern(item, name);
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '*';
    };
    if (!std::all_of(name.begin(), name.end(), allowed))
      item.fail(fmt::format("\"{}\" is no agent's name, nor a pattern for some.", printable(name)));
    agents.push_back(std::move(name));
  }
  if (agents.empty()) value.fail("the list is empty; without it the rule is for every agent.");
  return agents;
}

/// Why the capability is not covered; empty: it is.
std::string why_not_covered(const CapabilityDefinition& capability, const Rule& rule) {
  std::string why;
  if (!has_what_is_named(capability, rule.when, &why)) return why;
  if (!rule.limit || rule.limit->key.empty() || capability.kind != CapabilityKind::kWrite) return {};
  const auto& inputs = capability.inputs;
  const auto has = [&](const InputDefinition& input) { return input.name == rule.limit->key; };
  const auto& whom = capability.recipients;
  if (std::find(whom.begin(), whom.end(), rule.limit->key) != whom.end())
    return fmt::format(
        "its input \"{}\" says whom it reaches, which can be written in many ways, so that no limit can "
        "count by it",
        printable(rule.limit->key));
  if (std::any_of(inputs.begin(), inputs.end(), has)) return {};
  return fmt::format("it has no input \"{}\", by which the limit counts", printable(rule.limit->key));
}

void add_sorted(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  if (at == names.end() || *at != name) names.insert(at, name);
}

void add_covered(Rule& rule, const CapabilityDefinition& capability) {
  add_sorted(rule.covers, capability.name);
  if (capability.kind == CapabilityKind::kWrite && rule.limit) add_sorted(rule.counts, capability.name);
}

/// What a rule is about, found by the names and patterns of its file.
class Covering {
 public:
  Covering(const RuleSubjects& subjects, Rule& rule) : rule_(rule) {
    for (const auto& definition : subjects.definitions) {
      for (const auto& capability : definition->capabilities) all_.push_back(&capability);
    }
  }

  void cover(const YamlValue& value) {
    for (const auto& item : value.list(256)) cover_one(item);
    if (rule_.capabilities.empty()) value.fail("the list is empty; \"*\" stands for every read and write.");
    std::sort(covered_.begin(), covered_.end(), [](auto* a, auto* b) { return a->name < b->name; });
    covered_.erase(std::unique(covered_.begin(), covered_.end()), covered_.end());
    for (const auto* capability : covered_) add_covered(rule_, *capability);
  }
  const std::vector<const CapabilityDefinition*>& covered() const { return covered_; }

 private:
  void cover_one(const YamlValue& item) {
    const auto pattern = item.line(100);
    check_pattern(item, pattern);
    rule_.capabilities.push_back(pattern);
    const bool is_name = pattern.find('*') == std::string::npos;
    std::string first_reason;
    std::vector<std::string> names;
    bool found = false, covers = false;
    for (const auto* capability : all_) {
      names.push_back(capability->name);
      if (!fits_pattern(pattern, capability->name)) continue;
      // A pattern is about no cancellation, and leaves out what cannot be asked.
      if (!is_name && capability->kind == CapabilityKind::kCancel) continue;
      found = true;
      const auto why = why_not_covered(*capability, rule_);
      if (!why.empty() && first_reason.empty()) first_reason = fmt::format("{}: {}", capability->name, why);
      if (!why.empty()) continue;
      covers = true;
      covered_.push_back(capability);
    }
    if (!found && is_name)
      item.fail(fmt::format("there is no capability \"{}\"{}.", printable(pattern), did_you_mean(pattern, names)));
    if (!found) item.fail(fmt::format("no capability fits \"{}\".", printable(pattern)));
    if (!covers)
      item.fail(is_name ? fmt::format("{}.", first_reason)
                        : fmt::format("nothing that fits \"{}\" has what the rule asks for; {}.", printable(pattern),
                                      first_reason));
  }

  Rule& rule_;
  std::vector<const CapabilityDefinition*> all_, covered_;
};

/// Whatever a definition says of its inputs, which may change: what is refused here can never hold.
void refuse_contradiction(const YamlValue& value, const Rule& rule,
                          const std::vector<const CapabilityDefinition*>& covered) {
  // How far zones are apart differs from year to year.
  std::set<std::string_view> zones;
  for (const auto& condition : rule.when) {
    if (reads_time(condition.kind)) zones.insert(condition.window.zone->name());
  }
  if (zones.size() > 1) return;
  const auto conditions = pointers_to(rule.when);
  try {
    for (const auto* capability : covered) {
      if (RequestSpace(*capability, conditions, Bounds::kType, 0).find(conditions)) return;
    }
  } catch (const TooManyCases&) {
    return;  // more than can be looked at is no contradiction
  }
  value.fail("its conditions never hold together, so that the rule would never act. Alternatives are two rules.");
}

constexpr std::int64_t kFewestApprovals = 2, kMostApprovals = 5;

/// How many operators must accept it: a part of how freely it may be used, and nothing by itself.
std::int64_t parse_approvals(const YamlValue& value, const Rule& rule) {
  if (rule.tier != Tier::kApprovalRequired)
    value.fail(
        "it says how many operators must accept what waits for approval: the rule needs \"tier: approval_required\" "
        "beside it.");
  return value.integer(kFewestApprovals, kMostApprovals);
}

void refuse_useless(const YamlMap& map, const Rule& rule, const std::vector<const CapabilityDefinition*>& covered) {
  if (!rule.tier && !rule.delay_ms && !rule.expires_ms && !rule.limit)
    map.value().fail("nothing follows from the rule: name a tier, delay_seconds, expires_after or a limit.");
  const bool has_write =
      std::any_of(covered.begin(), covered.end(), [](const auto* c) { return c->kind == CapabilityKind::kWrite; });
  for (const char* key : {"delay_seconds", "expires_after", "approvals", "limit"}) {
    const auto v = map.find(key);
    if (v && !has_write) v->fail(fmt::format("\"{}\" is of writes, and the rule covers none.", key));
  }
}

Rule parse_rule(const YamlValue& value, const RuleSource& source, const RuleSubjects& subjects) {
  const YamlMap map(value, {"name", "capabilities", "agents", "when", "tier", "approvals", "delay_seconds",
                            "expires_after", "limit", "reason"});
  Rule rule;
  rule.layer = source.layer;
  rule.file = source.file;
  rule.line = value.node().line;
  rule.name = map.at("name").line(100);
  if (source.layer == RuleLayer::kAgent) rule.agents = {small_letters(source.agent)};
  if (const auto v = map.find("agents")) rule.agents = parse_agents(*v, source);
  if (const auto v = map.find("when")) {
    for (const auto& item : v->list(32)) rule.when.push_back(parse_condition(item, subjects));
  }
  if (const auto v = map.find("tier")) rule.tier = parse_tier(*v);
  if (const auto v = map.find("approvals")) rule.approvals = parse_approvals(*v, rule);
  if (const auto v = map.find("delay_seconds")) rule.delay_ms = v->seconds_as_ms(1, kLongestWindow);
  if (const auto v = map.find("expires_after")) rule.expires_ms = v->duration_ms(kMinute, kLongestWindow);
  if (const auto v = map.find("limit")) rule.limit = parse_limit(*v);
  if (const auto v = map.find("reason")) rule.reason = v->line(300);
  Covering covering(subjects, rule);
  covering.cover(map.at("capabilities"));
  refuse_useless(map, rule, covering.covered());
  if (rule.when.size() > 1) refuse_contradiction(map.at("when"), rule, covering.covered());
  return rule;
}

}  // namespace

std::vector<Rule> parse_rules(std::string_view text, const RuleSource& source, const RuleSubjects& subjects) {
  const auto root = parse_yaml(text, source.file);
  const YamlMap map(YamlValue(root, source.file, ""), {"policy", "rules"});
  const auto format = map.at("policy");
  if (format.integer(1, 1'000'000) > kPolicyVersion)
    format.fail(fmt::format("this program reads policies of version {}; install a newer one.", kPolicyVersion));
  std::vector<Rule> rules;
  std::set<std::string> names;
  for (const auto& item : map.at("rules").list(kMostRules)) {
    rules.push_back(parse_rule(item, source, subjects));
    if (!names.insert(rules.back().name).second)
      item.fail(fmt::format("the file has a rule \"{}\" already.", printable(rules.back().name)));
  }
  return rules;
}

void cover_what_is_new(Rule& rule, const RuleSubjects& subjects) {
  for (const auto& definition : subjects.definitions) {
    for (const auto& capability : definition->capabilities) {
      const auto fits = [&](const std::string& pattern) { return fits_pattern(pattern, capability.name); };
      const bool is_meant = std::any_of(rule.capabilities.begin(), rule.capabilities.end(), fits);
      if (is_meant && why_not_covered(capability, rule).empty()) add_covered(rule, capability);
    }
  }
}

}  // namespace krux
