#include "core/capability/present_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/account/permission.hpp"
#include "core/capability/audited_decision.hpp"
#include "core/capability/call_rules.hpp"
#include "core/capability/write_content.hpp"

namespace krux {
namespace {

bool has_keyed_limits(const ServiceDefinition& definition) {
  const auto& limits = definition.limits;
  return std::any_of(limits.begin(), limits.end(), [](const Limit& limit) { return !limit.key.empty(); });
}

}  // namespace

PresentTerms present_terms(const HandlerContext& context, const WriteRecord& write) {
  const auto account = context.accounts.find(write.account);
  if (!account) return {};  // nobody executes it
  const auto& definition = *account->definition;
  const auto* capability = definition.find(write.operation);
  if (!capability) return {fmt::format("There is no capability {} any more.", write.operation), {}, {}};
  const auto rules = rules_in_force(context);
  const auto agent = rules->empty() ? std::string() : agent_name_of(context, write.agent_id);
  // Few depend on what stands in it.
  const bool by_content =
      !capability->counts_as.empty() || has_keyed_limits(definition) || rules_look_into(*rules, agent, *capability);
  const auto params = by_content ? parse_json(write.params_json, "the write's parameters", {64 << 20, 64})
                                 : JsonDocument(rapidjson::kObjectType);
  const auto& counted = counted_capability(definition, *capability, params);
  if (counted.tier == Tier::kBlocked) return {fmt::format("{} is blocked by now.", counted.name), {}, {}};
  const auto ruling = ruling_on(context, rules, {agent, facts_about(write)}, *capability, counted, params);
  auto why = why_ruled(ruling, capability->name);
  // What rules say that cannot be read nobody knows: it is not given up for that.
  if (ruling.blocks() && !ruling.decision.tier_rule->unreadable)
    return {std::move(why), {}, {}, ErrorCode::kPolicyDenied, decision_json(ruling, counted, definition.version, {})};
  const bool by_rule = !why.empty();
  PresentTerms terms{{}, by_rule ? std::move(why) : why_asked(counted), {}};
  if (by_rule) terms.asked_by_json = tier_rule_json(ruling);
  if (!terms.asks.empty()) terms.decision_json = decision_json(ruling, counted, definition.version, {});
  terms.approvals_needed = ruling.decision.approvals;
  terms.approval_ms = ruling.decision.expires_ms;
  terms.counted_as = counted.name;
  terms.counts = ruling.counts;
  terms.limits = rules_for(context.options, definition, counted, params);
  for (auto& limit : limit_rules(ruling, params)) terms.limits.push_back(std::move(limit));
  return terms;
}

}  // namespace krux
