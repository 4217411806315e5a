// What a decision of the operator's rules costs: 200 rules about one capability, of which no two ask the same.
//   bench-rules
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/report.hpp"
#include "core/policy/rules/rule_set.hpp"
#include "core/policy/rules/rules_fixture.hpp"

using namespace krux;
using namespace krux::bench;
using namespace rules_test;

namespace {

constexpr int kRules = 200, kDecisions = 20'000;
constexpr std::int64_t kNow = 1'764'072'000'000;

std::string rule(int number) {
  const auto condition = [&] {
    switch (number % 5) {
      case 0:
        return fmt::format("{{recipients: {{any_inside: [rival{}.example]}}}}", number);
      case 1:
        return fmt::format("{{input: subject, prefix: \"secret {}\"}}", number);
      case 2:
        return fmt::format("{{input: body, min_bytes: {}}}", 5000 + number);
      case 3:
        return fmt::format("{{input: subject, one_of: [\"a{0}\", \"b{0}\", \"c{0}\"]}}", number);
      default:
        return fmt::format("{{time_within: {{zone: Europe/Berlin, from: \"00:{:02}\", to: \"06:{:02}\"}}}}",
                           number % 60, number / 5 % 60);
    }
  }();
  return fmt::format("  - {{name: r{0}, capabilities: [mail.send], tier: {1}, when: [{2}]}}\n", number,
                     number % 2 == 0 ? "blocked" : "approval_required", condition);
}

double decision_us(const RuleSet& rules, const CapabilityDefinition& capability, const JsonValue& params,
                   Tier expected) {
  const auto begin = now_s();
  for (int i = 0; i < kDecisions; ++i) {
    const RuleRequest request("bot", capability, params, kNow + i, nullptr);
    if (rules.compiled("bot", capability.name).decide(request).tier != expected)
      wrong("a decision is not the expected one");
  }
  return (now_s() - begin) * 1e6 / kDecisions;
}

}  // namespace

int main() {
  std::string text = "policy: 1\nrules:\n";
  for (int i = 0; i < kRules; ++i) text += rule(i);
  const RuleSet rules(parse_rules(text, kSystemFile, {mail_definitions(), nullptr}));
  const auto& capability = mail("mail.send");
  const auto decide = [&](const std::string& params, Tier expected) {
    const auto document = parse_json(params, "the parameters");
    std::vector<double> rounds;
    for (int i = 0; i < Rounds::kPairs; ++i) rounds.push_back(decision_us(rules, capability, document, expected));
    return rounds;
  };
  const std::string body(2000, 'x');
  print_header();
  print_bound("rules: 200 asked of a mail, none matches",
              decide(fmt::format(R"({{"to":"Amy <amy@example.com>","subject":"Lunch on Friday?","body":"{}"}})", body),
                     Tier::kAutonomous),
              "us", 1.0);
  print_bound("rules: 200 asked of a mail, one holds it",
              decide(fmt::format(R"({{"to":"amy@example.com","subject":"secret 191","body":"{}"}})", body),
                     Tier::kApprovalRequired),
              "us", 1.0);
}
