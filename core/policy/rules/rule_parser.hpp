// One file of rules.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule.hpp"

namespace krux {

/// What rules can be about.
struct RuleSubjects {
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions;
  const FactSource* facts = nullptr;  ///< null: there are none
};

struct RuleSource {
  std::string file;  ///< as sentences name it
  RuleLayer layer = RuleLayer::kSystem;
  std::string agent;  ///< whose, of layer kAgent
};

/// Throws ConfigError "file:line:column: what is wrong and what is accepted": for what it does not know, for a
/// condition on what no capability of the rule has, and for conditions that never hold together.
std::vector<Rule> parse_rules(std::string_view text, const RuleSource& source, const RuleSubjects& subjects);

/// Of a rule that was read before, where its file cannot be read any more: it covers besides what its names and
/// patterns would find by now. What it covered it covers still, whatever has become of that.
void cover_what_is_new(Rule& rule, const RuleSubjects& subjects);

}  // namespace krux
