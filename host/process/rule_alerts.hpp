// Which of the operator's rules could not be read: alerts and the log.
#pragma once

#include "core/policy/rules/rule_book.hpp"
#include "core/write/alerts.hpp"

namespace krux {

/// At the start, and after each reload.
void tell_of_rules(const RuleBook& rules, AlertStore& alerts);

}  // namespace krux
