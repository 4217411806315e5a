#include "core/capability/limits_in_use.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/capability/call_rules.hpp"
#include "core/state/agents.hpp"
#include "core/write/limits.hpp"

namespace krux {
namespace {

struct HeldTo {
  std::string service;
  Limit limit;
  const Rule* rule = nullptr;  ///< nullptr: of the definition, or the service's policy
};

/// Whose capabilities these all are; empty: several services'.
std::string service_of(const HandlerContext& context, const std::vector<std::string>& capabilities) {
  for (const auto& service : context.accounts.services()) {
    const auto has = [&](const std::string& name) { return service.definition->find(name) != nullptr; };
    if (std::all_of(capabilities.begin(), capabilities.end(), has)) return service.definition->service;
  }
  return {};
}

/// What agents are held to: of definitions and policies all of them, of a rule those whom it names.
std::vector<HeldTo> limits_of(const HandlerContext& context, const RuleSet& rules) {
  std::vector<HeldTo> all;
  for (const auto& service : context.accounts.services()) {
    for (const auto& limit : service.definition->limits) all.push_back({service.definition->service, limit, nullptr});
  }
  for (const auto& rule : rules.rules()) {
    if (rule.limit) all.push_back({service_of(context, rule.counts), limit_of(rule), &rule});
  }
  return all;
}

}  // namespace

void put_limits_in_use(JsonWriter& out, const HandlerContext& context) {
  struct Row {
    std::string agent, value;
    const HeldTo* held;
    LimitUse use;
  };
  const auto set = rules_in_force(context);
  const auto limits = limits_of(context, *set);
  std::vector<Row> rows;
  for (const auto& agent : context.records.agents.list()) {
    const auto name = small_letters(agent.name);
    for (const auto& one : limits) {
      if (one.rule && !is_for_agent(*one.rule, name)) continue;
      for (const auto& [value, use] : context.writes.ledger.limit_use(agent.agent_id, one.limit))
        rows.push_back({agent.name, value, &one, use});
    }
  }
  put_objects(out, "limits", rows, [&](const Row& row) {
    const auto& limit = row.held->limit;
    put(out, "agent", row.agent);
    put(out, "service", row.held->service);
    put(out, "operations", limit.operations);
    put(out, "per", limit.key);
    put(out, "value", row.value);
    put(out, "counted", row.use.counted);
    put(out, "limit", limit.limit);
    put(out, "window_ms", limit.window_ms);
    put(out, "free_at_ms", row.use.free_at_ms);
    if (row.held->rule) put_name(out, *row.held->rule, true);
  });
}

}  // namespace krux
