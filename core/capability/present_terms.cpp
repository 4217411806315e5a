#include "core/capability/present_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/account/permission.hpp"
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
  // Few depend on what stands in it.
  const bool by_content = !capability->counts_as.empty() || has_keyed_limits(definition);
  const auto params = by_content ? parse_json(write.params_json, "the write's parameters", {64 << 20, 64})
                                 : JsonDocument(rapidjson::kObjectType);
  const auto& rules = counted_capability(definition, *capability, params);
  if (rules.tier == Tier::kBlocked) return {fmt::format("{} is blocked by now.", rules.name), {}, {}};
  return {{}, why_asked(rules), rules_for(context.options, definition, rules, params)};
}

}  // namespace krux
