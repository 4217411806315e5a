#include "core/policy/rules/decider.hpp"

#include <cstdint>

#include "core/util/json_out.hpp"

namespace krux {

const char* to_string(RuleLayer layer) {
  return layer == RuleLayer::kSystem ? "system" : layer == RuleLayer::kOrganisation ? "organisation" : "agent";
}

void put_name(JsonWriter& out, const RuleName& rule, bool whole) {
  put(out, "rule", rule.name);
  put(out, "layer", to_string(rule.layer));
  if (!whole) return;
  put(out, "file", rule.file);
  put(out, "line", std::int64_t{rule.line});
}

void put_decider(JsonWriter& out, const RuleName& rule) {
  put_name(out, rule, false);
  if (!rule.reason.empty()) put(out, "reason", rule.reason);
}

void put_rule_decider(JsonWriter& out, std::string_view name, const RuleName& rule) {
  put_key(out, name);
  out.StartObject();
  put_name(out, rule, true);
  out.EndObject();
}

void put_definition_decider(JsonWriter& out, std::string_view version, std::string_view capability) {
  put_key(out, "decided_by");
  out.StartObject();
  put(out, "definition", version);
  put(out, "capability", capability);
  out.EndObject();
}

}  // namespace krux
