#include "host/process/rule_alerts.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace krux {

void tell_of_rules(const RuleBook& rules, AlertStore& alerts) {
  alerts.settle("rules_refused");
  const auto current = rules.current();
  const auto& all = current->rules();
  // As long as nobody knows what they say, calls are blocked for it.
  const bool blocks = std::any_of(all.begin(), all.end(), [](const Rule& rule) { return rule.unreadable; });
  for (const auto& problem : rules.problems()) {
    problem.refuses ? spdlog::error("rules refused: {}", problem.reason) : spdlog::warn("{}", problem.reason);
    const auto* severity = problem.refuses && blocks ? "critical" : "warning";
    alerts.raise({severity, "rules_refused", problem.file.stem().string(), "", "", problem.reason, true});
  }
  if (!all.empty()) spdlog::info("{} rules in force", all.size());
}

}  // namespace krux
