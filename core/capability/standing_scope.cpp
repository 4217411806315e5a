#include "core/capability/standing_scope.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/account/permission.hpp"
#include "core/capability/call_rules.hpp"
#include "core/definition/forms.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

void sort_unique(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

/// Whether what it asks is about whom a write reaches, or its agent, and not about what the write says.
bool asks_of_content(const RuleCondition& condition) {
  if (!reads_fact(condition.kind)) return false;
  const auto* fact = known_fact(condition.input);
  return !fact || fact->of_content;
}

/// Why a person is asked about it; or a sentence: why that answers for nothing but itself.
std::variant<std::vector<std::string>, std::string> askers_of(const HandlerContext& context,
                                                              const CapabilityDefinition& counted,
                                                              const WriteRecord& write) {
  std::vector<std::string> askers;
  if (counted.tier == Tier::kApprovalRequired) askers.push_back("tier of " + counted.name);
  const auto set = rules_in_force(context);
  for (const auto& matching : rules_on_write(context, *set, write)) {
    const auto& rule = *matching.rule;
    if (rule.tier.value_or(Tier::kAutonomous) < Tier::kApprovalRequired) continue;
    if (rule.unreadable) return fmt::format("The rules in {} cannot be read.", printable(rule.file));
    if (rule.approvals)
      return fmt::format("The rule \"{}\" wants several people, and each looks at every write.", printable(rule.name));
    if (std::any_of(rule.when.begin(), rule.when.end(), asks_of_content))
      return fmt::format("The rule \"{}\" looks at what each write says.", printable(rule.name));
    askers.push_back(fmt::format("rule {}: {}", rule.file, rule.name));
  }
  sort_unique(askers);
  return askers;
}

/// To the letter, each with its parameter's name: an account number that is written otherwise is another one.
std::variant<std::vector<std::string>, std::string> texts_reached(const CapabilityDefinition& capability,
                                                                  const JsonValue& params) {
  std::vector<std::string> reaches;
  for (const auto& name : capability.recipients) {
    const auto* value = find_member(params, name);
    if (value && !value->IsNull()) reaches.push_back(name + "=" + to_json(*value));
  }
  if (reaches.empty()) return "It is not known whom it reaches.";
  sort_unique(reaches);
  return reaches;
}

std::variant<std::vector<std::string>, std::string> reach_of(const CapabilityDefinition& capability,
                                                             const JsonValue& params) {
  if (capability.recipients_are_texts) return texts_reached(capability, params);
  std::vector<std::string> reaches;
  for (const auto address : recipient_addresses(capability, params)) {
    if (address.empty()) return "An address of it can be read in more than one way.";
    reaches.push_back(small_letters(address));
  }
  if (reaches.empty() && capability.recipients.empty()) {
    if (auto target = target_of(capability, params); !target.empty()) reaches.push_back(std::move(target));
  }
  if (reaches.empty()) return "It is not known whom it reaches.";
  sort_unique(reaches);
  return reaches;
}

}  // namespace

std::variant<StandingScope, std::string> standing_scope(const HandlerContext& context, const WriteRecord& write) {
  if (write.approvals_needed > 1) return "Several people are asked about it, and each looks at every write.";
  const auto service = context.accounts.service(write.account.service);
  const auto* capability = service ? service->definition->find(write.operation) : nullptr;
  if (!capability) return "What it does is no capability any more.";
  const auto params = parse_json(write.params_json, "the write's parameters", {64 << 20, 64});
  auto reaches = reach_of(*capability, params);
  if (auto* why = std::get_if<std::string>(&reaches)) return std::move(*why);
  auto askers = askers_of(context, counted_capability(*service->definition, *capability, params), write);
  if (auto* why = std::get_if<std::string>(&askers)) return std::move(*why);
  StandingScope scope{write.agent_id, write.account, write.operation,
                      std::get<std::vector<std::string>>(std::move(reaches)),
                      std::get<std::vector<std::string>>(std::move(askers))};
  if (scope.asked_by.empty()) return "A person was asked because a limit was reached, and limits count each write.";
  return scope;
}

std::string covering_standing(const HandlerContext& context, const NewWrite& write) {
  if (write.approval_reason.empty()) return {};
  const auto standing = context.writes.standing.of(write.agent_id, write.account, write.operation);
  if (standing.empty()) return {};
  WriteRecord asked;
  static_cast<Write&>(asked) = static_cast<const Write&>(write);
  const auto scope = standing_scope(context, asked);
  const auto* known = std::get_if<StandingScope>(&scope);
  const auto at = std::find_if(standing.begin(), standing.end(),
                               [&](const StandingApproval& one) { return known && one.scope.covers(*known); });
  return at == standing.end() ? std::string() : at->standing_id;
}

}  // namespace krux
