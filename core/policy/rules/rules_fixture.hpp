// A service with an input of every type, rules from texts, and requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition_loader.hpp"
#include "core/policy/rules/rule_parser.hpp"
#include "core/policy/rules/rule_set.hpp"

namespace rules_test {

using namespace krux;

inline const char* const kMailDefinition = R"(schema: 1
service: mail
display_name: Mail
description: Mail.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://mail.example/
limits: [{operations: [mail.send], limit: 20, window: 1 h}]
capabilities:
  - {name: mail.find, kind: read, tier: autonomous, purpose: Find., when_to_use: Often., target: "{folder}",
     inputs: [{name: folder, type: String, description: F., max_length: 40},
              {name: count, type: Integer, description: C., default: 20, minimum: 1, maximum: 100}]}
  - {name: mail.send, kind: write, tier: notify, purpose: Send., when_to_use: Often., delay: 5 min,
     recipients: [to, cc],
     inputs: [{name: to, type: String, description: T., required: true, min_length: 3, max_length: 10000},
              {name: cc, type: String, description: C., max_length: 10000},
              {name: subject, type: String, description: S., default: "", max_length: 100},
              {name: body, type: String, description: B., max_length: 5000},
              {name: urgent, type: Boolean, description: U.},
              {name: files, type: Array, description: F., uploads: true, items: {type: String}, max_length: 5}]}
  - {name: mail.label, kind: write, tier: autonomous, purpose: Label., when_to_use: Often., delay: 30 s,
     counts_as: [{input: labels, holds: [trash], capability: mail.drop}],
     inputs: [{name: id, type: String, description: I., required: true, min_length: 1, max_length: 40},
              {name: labels, type: Array, description: L., items: {type: String, max_length: 20}, max_length: 8}]}
  - {name: mail.drop, kind: write, tier: notify, purpose: Drop., when_to_use: Seldom., delay: 1 h,
     inputs: [{name: id, type: String, description: I., required: true, min_length: 1, max_length: 40}]}
  - {name: mail.post, kind: write, tier: autonomous, purpose: Post., when_to_use: Often., delay: 0 s,
     inputs: [{name: room, type: String, description: R., required: true, one_of: [red, green, blue]},
              {name: note, type: String, description: N., nullable: true},
              {name: extra, type: Object, description: E.}]}
  - {name: mail.pay, kind: write, tier: notify, purpose: Pay., when_to_use: Seldom., delay: 1 h,
     recipients: [payee], recipients_are: texts,
     inputs: [{name: payee, type: String, description: A., required: true, min_length: 1, max_length: 40}]}
  - {name: mail.cancel, kind: cancel, tier: autonomous, purpose: Cancel., when_to_use: Before.}
)";

inline std::vector<std::shared_ptr<const ServiceDefinition>> mail_definitions() {
  static const auto definition =
      std::make_shared<const ServiceDefinition>(parse_definition(kMailDefinition, "mail.yaml"));
  return {definition};
}

inline const CapabilityDefinition& mail(const std::string& name) {
  return *mail_definitions().front()->find(name);
}

inline const RuleSource kSystemFile{"system.yaml", RuleLayer::kSystem, {}};
inline const RuleSource kOrganisationFile{"organisation.yaml", RuleLayer::kOrganisation, {}};

inline RuleSource file_of(const std::string& agent) {
  return {"agents/" + agent + ".yaml", RuleLayer::kAgent, agent};
}

/// `rules`: entries of the list, in YAML.
inline std::vector<Rule> rules_of(const std::string& rules, const RuleSource& source = kSystemFile,
                                  const FactSource* facts = nullptr) {
  return parse_rules("policy: 1\nrules:\n" + (rules.empty() ? "  []\n" : rules), source, {mail_definitions(), facts});
}

inline RuleSet set_of(const std::string& rules, const FactSource* facts = nullptr) {
  return RuleSet(rules_of(rules, kSystemFile, facts));
}

constexpr std::int64_t kTuesdayNoon = 1'764'072'000'000;  ///< 2025-11-25T12:00:00Z

inline RuleDecision decide(const RuleSet& set, const std::string& capability, std::string_view params,
                           const std::string& agent = "bot", std::int64_t wall_ms = kTuesdayNoon,
                           const FactSource* facts = nullptr) {
  const auto document = parse_json(params, "the parameters", {16 << 20, 32});
  return set.compiled(agent, capability).decide({agent, mail(capability), document, wall_ms, facts});
}

inline bool blocks(const RuleSet& set, const std::string& capability, std::string_view params,
                   const std::string& agent = "bot", std::int64_t wall_ms = kTuesdayNoon) {
  return decide(set, capability, params, agent, wall_ms).tier == Tier::kBlocked;
}

}  // namespace rules_test
