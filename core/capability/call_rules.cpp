#include "core/capability/call_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/account/permission.hpp"
#include "core/capability/audited_decision.hpp"
#include "core/capability/host_capabilities.hpp"
#include "core/capability/read_call.hpp"
#include "core/capability/write_content.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/state/agent_history.hpp"
#include "core/state/agents.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

RuleRequest request_about(const HandlerContext& context, const RuledCall& call, const CapabilityDefinition& capability,
                          const JsonValue& params) {
  return {call.agent, capability, params, context.clock.wall_ms(), context.options.rules->facts(), call.about};
}

std::string with_reason(std::string sentence, const Rule& rule) {
  if (rule.reason.empty()) return sentence;
  sentence += " " + printable(rule.reason);
  if (std::string_view(".!?").find(sentence.back()) == std::string_view::npos) sentence += '.';
  return sentence;
}

std::vector<std::string> shown_by_facts(const Rule& rule, const RuleRequest& request) {
  std::vector<std::string> because;
  for (const auto& condition : rule.when) {
    if (!is_answered(condition.kind)) continue;
    for (const auto& asked : request.asked()) {
      if (asked.fact == condition.input && !asked.answer.because.empty()) because.push_back(asked.answer.because);
    }
  }
  return because;
}

void add_asked(Ruling& ruling, const RuleRequest& request) {
  for (const auto& asked : request.asked()) ruling.facts[asked.fact] = asked.answer.truth;
}

/// What the adapter can resolve of a read's inputs is laid over the rest.
JsonDocument read_params(const CheckedCall& call, const CallContextPtr& on) {
  auto params = resolved_target_inputs(call, on);
  auto& allocator = params.GetAllocator();
  for (const auto& member : call.arguments.params.GetObject()) {
    if (!find_member(params, view(member.name)))
      params.AddMember(JsonValue(member.name, allocator), JsonValue(member.value, allocator), allocator);
  }
  return params;
}

void must_be_let(const HandlerContext& context, const CheckedCall& call, const RuleSetPtr& set, const RuledCall& ruled,
                 const JsonValue& params) {
  const auto& capability = *call.capability;
  const auto ruling = ruling_on(context, set, ruled, capability, capability, params);
  if (call.audit)
    call.audit->decided(audited_decision_json(ruling, {*call.definition, capability, capability}, ruled.agent, params));
  must_not_be_ruled_out(ruling, capability);
}

}  // namespace

FactContext facts_about(const WriteRecord& write) {
  return {write.agent_id, write.account.service, write.account.account_id, write.counted_at_ms, write.created_at_ms};
}

RuleSetPtr rules_in_force(const HandlerContext& context) {
  // For ever: a call that hangs may come back while the process ends.
  static const auto& none = *new RuleSetPtr(std::make_shared<const RuleSet>());
  return context.options.rules ? context.options.rules->current() : none;
}

bool rules_look_into(const RuleSet& rules, std::string_view agent, const CapabilityDefinition& capability) {
  return rules.compiled(agent, capability.name).by_content();
}

Ruling ruling_on(const HandlerContext& context, RuleSetPtr set, const RuledCall& call,
                 const CapabilityDefinition& capability, const CapabilityDefinition& counted, const JsonValue& params) {
  Ruling ruling{std::move(set), {}, false};
  if (ruling.set->empty()) return ruling;
  const auto& rules = ruling.set->compiled(call.agent, counted.name);
  ruling.counts = rules.counts();
  const auto request = request_about(context, call, counted, params);
  ruling.decision = rules.decide(request);
  add_asked(ruling, request);
  if (&counted != &capability) {
    const auto of_itself = request_about(context, call, capability, params);
    ruling.decision.take_stricter(ruling.set->compiled(call.agent, capability.name).decide(of_itself));
    add_asked(ruling, of_itself);
  }
  return ruling;
}

Ruling ruling_on_any(const HandlerContext& context, RuleSetPtr set, std::string_view agent,
                     const CapabilityDefinition& capability) {
  const auto& rules = set->compiled(agent, capability.name);
  auto decision = rules.whatever_it_says(context.clock.wall_ms());
  return {std::move(set), std::move(decision), rules.counts()};
}

void must_be_allowed_to_read(const HandlerContext& context, const CheckedCall& call, const CallContextPtr& on) {
  const auto set = rules_in_force(context);
  if (set->empty()) return;
  const auto agent = agent_name_of(context, call.invocation);
  const auto& capability = *call.capability;
  if (set->compiled(agent, capability.name).empty()) return;
  const bool looks = rules_look_into(*set, agent, capability);
  const auto params = looks ? read_params(call, on) : JsonDocument(rapidjson::kObjectType);
  const auto& account = call.account->ref;
  must_be_let(context, call, set, {agent, {call.invocation.agent_id, account.service, account.account_id}}, params);
}

void must_be_allowed_here(const HandlerContext& context, const CheckedCall& call) {
  const auto set = rules_in_force(context);
  if (set->empty()) return;
  const auto agent = agent_name_of(context, call.invocation);
  if (set->compiled(agent, call.capability->name).empty()) return;
  must_be_let(context, call, set, {agent, {call.invocation.agent_id, call.definition->service, {}}},
              call.arguments.params);
}

std::optional<Error> why_not_hear_state(const HandlerContext& context, const std::string& agent_id) {
  const auto* capability = state_definition()->find("state.shared.get");
  if (!context.options.state) return Error(ErrorCode::kUnsupported, "This host keeps no state for agents.");
  try {
    must_not_be_ruled_out(
        ruling_on_any(context, rules_in_force(context), agent_name_of(context, agent_id), *capability), *capability);
  } catch (const Error& refused) {
    return refused;
  }
  return std::nullopt;
}

void must_not_be_ruled_out(const Ruling& ruling, const CapabilityDefinition& capability) {
  if (ruling.blocks()) throw denied(ruling, capability.name);
  if (!ruling.asks()) return;
  throw Error(
      ErrorCode::kApprovalRequired,
      with_reason(fmt::format("{} needs a person's approval by the rule \"{}\", and only writes can be approved: "
                              "it cannot run.",
                              capability.name, printable(ruling.decision.tier_rule->name)),
                  *ruling.decision.tier_rule))
      .with_context(tier_rule_json(ruling));
}

bool may_be_shown_now(const HandlerContext& context, const std::string& agent_id, const CapabilityDefinition& read) {
  const auto set = rules_in_force(context);
  if (set->empty()) return true;
  const JsonDocument nothing(rapidjson::kObjectType);
  const auto ruling = ruling_on(context, set, {agent_name_of(context, agent_id), {agent_id}}, read, read, nothing);
  return !ruling.blocks() && !ruling.asks();
}

Error denied(const Ruling& ruling, const std::string& capability) {
  return Error(ErrorCode::kPolicyDenied, why_ruled(ruling, capability)).with_context(tier_rule_json(ruling));
}

std::string why_ruled(const Ruling& ruling, const std::string& capability) {
  const auto* rule = ruling.tier_rule();
  if (!rule || !(ruling.blocks() || ruling.asks())) return {};
  return with_reason(fmt::format("{} {} by the rule \"{}\".", capability,
                                 ruling.blocks() ? "is blocked" : "needs " + approvals_in_words(ruling.approvals()),
                                 printable(rule->name)),
                     *rule);
}

std::string tier_rule_json(const Ruling& ruling) {
  return json_object([&](JsonWriter& out) {
    if (const auto* rule = ruling.tier_rule()) put_decider(out, *rule);
  });
}

std::vector<LimitRule> limit_rules(const Ruling& ruling, const JsonValue& params) {
  std::vector<LimitRule> limits;
  for (const auto* rule : ruling.decision.limits) {
    const auto& limit = *rule->limit;
    limits.push_back({limit_of(*rule), key_value_of(limit.key, params), limit.escalate, *rule});
  }
  return limits;
}

AlwaysRuled always_ruled(const RuleSet& rules, std::string_view agent, const CapabilityDefinition& capability) {
  const auto& compiled = rules.compiled(agent, capability.name);
  if (compiled.empty() || capability.kind == CapabilityKind::kCancel) return {capability.tier, 0};
  const auto decision = compiled.always();
  return {std::max(capability.tier, decision.tier), decision.delay_ms};
}

void note_call(const HandlerContext& context, const CheckedCall& call, std::int64_t at_ms) {
  auto* history = context.options.history;
  if (history && rules_in_force(context)->ask_when_called(call.capability->name))
    history->calls.note(call.invocation.agent_id, call.capability->name, at_ms);
}

void put_rule(JsonWriter& out, const Rule& rule, bool whole) {
  put_name(out, rule, whole);
  put(out, "when", in_words(rule.when));
  if (rule.tier) put(out, "tier", to_string(*rule.tier));
  if (rule.approvals) put(out, "approvals", *rule.approvals);
  if (rule.delay_ms) put(out, "delay_seconds", *rule.delay_ms / 1000);
  if (rule.expires_ms) put(out, "expires_after_seconds", *rule.expires_ms / 1000);
  if (rule.limit) {
    put(out, "limit", rule.limit->limit);
    put(out, "window_seconds", rule.limit->window_ms / 1000);
    if (!rule.limit->key.empty()) put(out, "per", rule.limit->key);
  }
  if (!rule.reason.empty()) put(out, "reason", rule.reason);
}

void put_rule(JsonWriter& out, const MatchingRule& matching) {
  put_rule(out, *matching.rule, true);
  if (!matching.because.empty()) put(out, "because", matching.because);
}

std::string agent_name_of(const HandlerContext& context, const std::string& agent_id) {
  const auto agent = context.records.agents.find(agent_id);
  return agent ? agent->name : agent_id;
}

std::string agent_name_of(const HandlerContext& context, const Invocation& invocation) {
  return invocation.agent_name.empty() ? agent_name_of(context, invocation.agent_id) : invocation.agent_name;
}

std::vector<MatchingRule> rules_on_write(const HandlerContext& context, const RuleSet& set, const WriteRecord& write) {
  const auto service = context.accounts.service(write.account.service);
  const auto* capability = service ? service->definition->find(write.operation) : nullptr;
  if (!capability || set.empty() || !context.options.rules) return {};
  const auto agent = agent_name_of(context, write.agent_id);
  const auto params = parse_json(write.params_json, "the write's parameters", {64 << 20, 64});
  const RuledCall call{agent, facts_about(write)};
  std::vector<MatchingRule> all;
  const auto add = [&](const CapabilityDefinition& as) {
    const auto request = request_about(context, call, as, params);
    for (const auto* rule : set.compiled(agent, as.name).matching(request)) {
      const bool there = std::any_of(all.begin(), all.end(), [&](const MatchingRule& one) { return one.rule == rule; });
      if (!there) all.push_back({rule, shown_by_facts(*rule, request)});
    }
  };
  add(*capability);
  const auto& counted = counted_capability(*service->definition, *capability, params);
  if (&counted != capability) add(counted);
  std::sort(all.begin(), all.end(), [](const MatchingRule& a, const MatchingRule& b) { return a.rule < b.rule; });
  return all;
}

}  // namespace krux
