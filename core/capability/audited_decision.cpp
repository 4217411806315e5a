#include "core/capability/audited_decision.hpp"

#include <algorithm>
#include <set>

#include "core/util/json_out.hpp"

namespace krux {
namespace {

/// How much there is of it.
void put_size(JsonWriter& out, const JsonValue& value) {
  switch (value.GetType()) {
    case rapidjson::kStringType:
      return put(out, "bytes", std::int64_t{value.GetStringLength()});
    case rapidjson::kArrayType:
      return put(out, "entries", std::int64_t{value.Size()});
    case rapidjson::kObjectType:
      return put(out, "members", std::int64_t{value.MemberCount()});
    default:
      return;
  }
}

const char* type_of(const JsonValue& value) {
  switch (value.GetType()) {
    case rapidjson::kStringType:
      return "text";
    case rapidjson::kArrayType:
      return "list";
    case rapidjson::kObjectType:
      return "object";
    case rapidjson::kNumberType:
      return "number";
    case rapidjson::kNullType:
      return "null";
    default:
      return "boolean";
  }
}

void put_kept(JsonWriter& out, const JsonValue& value) {
  const bool is_list = value.IsArray();
  const bool is_short = value.IsString() ? value.GetStringLength() <= kLongestKept : !value.IsObject() && !is_list;
  if (is_short) return value.Accept(out), void();
  if (is_list && value.Size() <= kMostKept) {
    out.StartArray();
    for (const auto& entry : value.GetArray()) put_kept(out, entry);
    out.EndArray();
    return;
  }
  out.StartObject();
  put_size(out, value);
  put(out, "sha256", sha256_hex(value.IsString() ? std::string(view(value)) : canonical_json(value)));
  out.EndObject();
}

void add_looked_at(std::set<std::string>& inputs, const CompiledRules& rules, const CapabilityDefinition& capability) {
  inputs.insert(rules.looks_at().begin(), rules.looks_at().end());
  if (rules.by_recipients()) inputs.insert(capability.recipients.begin(), capability.recipients.end());
}

}  // namespace

std::string decision_json(const Ruling& ruling, const CapabilityDefinition& counted, std::string_view version,
                          const std::string& looked_at_json) {
  const auto& decision = ruling.decision;
  // Of two that say the same the definition is named.
  const bool by_rule = decision.tier_rule && decision.tier > counted.tier;
  return json_object([&](JsonWriter& out) {
    put(out, "tier", to_string(std::max(counted.tier, decision.tier)));
    if (by_rule) {
      put_rule_decider(out, "decided_by", *decision.tier_rule);
    } else {
      put_definition_decider(out, version, counted.name);
    }
    if (const auto approvals = ruling.approvals(); approvals > 1) {
      put(out, "approvals", approvals);
      put_rule_decider(out, "approvals_by", *decision.approvals_rule);
    }
    if (decision.delay_rule) put_rule_decider(out, "delay_by", *decision.delay_rule);
    if (decision.expires_rule) put_rule_decider(out, "expiry_by", *decision.expires_rule);
    if (!decision.limits.empty())
      put_objects(out, "limits", decision.limits, [&](const Rule* rule) { put_name(out, *rule, true); });
    if (!ruling.facts.empty()) {
      put_raw(out, "facts", json_object([&](JsonWriter& facts) {
                for (const auto& [fact, truth] : ruling.facts) put(facts, fact, to_string(truth));
              }));
    }
    if (!looked_at_json.empty()) put_raw(out, "looked_at", looked_at_json);
  });
}

std::string looked_at_json(const Ruling& ruling, const JudgedCall& call, std::string_view agent,
                           const JsonValue& params) {
  std::set<std::string> inputs;
  const auto& set = *ruling.set;
  if (!set.empty()) {
    add_looked_at(inputs, set.compiled(agent, call.counted.name), call.counted);
    add_looked_at(inputs, set.compiled(agent, call.capability.name), call.capability);
  }
  for (const auto& limit : call.definition.limits) {
    if (!limit.key.empty() && std::count(limit.operations.begin(), limit.operations.end(), call.counted.name) > 0)
      inputs.insert(limit.key);
  }
  for (const auto& as : call.capability.counts_as) inputs.insert(as.input);
  if (inputs.empty()) return {};
  return json_object([&](JsonWriter& out) {
    for (const auto& input : inputs) {
      const auto* value = find_member(params, input);
      if (!value || value->IsNull()) continue;
      put_key(out, input);
      put_kept(out, *value);
    }
  });
}

std::string audited_decision_json(const Ruling& ruling, const JudgedCall& call, std::string_view agent,
                                  const JsonValue& params) {
  return decision_json(ruling, call.counted, call.definition.version, looked_at_json(ruling, call, agent, params));
}

AuditedDecision audited_decision(const Ruling& ruling, const JudgedCall& call, std::string_view agent,
                                 const JsonValue& params) {
  return {audited_decision_json(ruling, call, agent, params), redacted_json(params), {}};
}

std::string redacted_json(const JsonValue& params) {
  return json_object([&](JsonWriter& out) {
    for (const auto& member : params.GetObject()) {
      put_key(out, view(member.name));
      out.StartObject();
      put(out, "type", type_of(member.value));
      put_size(out, member.value);
      out.EndObject();
    }
  });
}

}  // namespace krux
