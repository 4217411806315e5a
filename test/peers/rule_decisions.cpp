// What the host's rules decide, for a comparison with other engines.
//   rule-decisions DEFINITION RULES    requests on standard input, one JSON object a line: {"agent", "capability",
//   "params"}
// Prints {"tier", "delay_ms", "rule"} for each, in their order.
#include <cstdio>
#include <iostream>
#include <string>

#include "core/definition/definition_loader.hpp"
#include "core/policy/rules/rule_parser.hpp"
#include "core/policy/rules/rule_set.hpp"
#include "core/util/json_out.hpp"
#include "core/util/yaml_tree.hpp"

using namespace krux;

namespace {

std::string answer_to(const std::string& line, const RuleSet& rules, const ServiceDefinition& definition) {
  const auto request = parse_json(line, "the request");
  const std::string agent(find_string(request, "agent").value_or("")),
      name(find_string(request, "capability").value_or(""));
  const auto* capability = definition.find(name);
  const auto* params = find_member(request, "params");
  if (!capability || !params) throw std::runtime_error("no such capability, or no params: " + line);
  const auto decision = rules.compiled(agent, name).decide({agent, *capability, *params, 0, nullptr});
  return json_object([&](JsonWriter& out) {
    put(out, "tier", to_string(decision.tier));
    put(out, "delay_ms", decision.delay_ms);
    put(out, "rule", decision.tier_rule ? decision.tier_rule->name : "");
  });
}

}  // namespace

int main(int count, char** values) try {
  if (count != 3) throw std::runtime_error("rule-decisions DEFINITION RULES < requests");
  const auto definition =
      std::make_shared<const ServiceDefinition>(parse_definition(read_text_file(values[1]), values[1]));
  const RuleSet rules(
      parse_rules(read_text_file(values[2]), {values[2], RuleLayer::kSystem, {}}, {{definition}, nullptr}));
  for (std::string line; std::getline(std::cin, line);) std::puts(answer_to(line, rules, *definition).c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "rule-decisions: %s\n", error.what());
  return 1;
}
