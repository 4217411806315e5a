// agent.*: who the agent is, in which session it works, what it may do and how much of it.
#include <fmt/format.h>

#include <algorithm>

#include "core/capability/call_rules.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/host_capability.hpp"
#include "core/capability/write_content.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/state/agents.hpp"
#include "core/state/sessions.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kMostValues = 20;  ///< of one limit's key, the fullest

CapabilityDefinition about_agent(const char* name, const char* purpose, const char* when_to_use) {
  auto c = host_capability(name, CapabilityKind::kRead, purpose, when_to_use, "agent");
  c.core = false;
  return c;
}

CapabilityDefinition whoami() {
  auto c = about_agent("agent.whoami", "See who you are here.", "To name yourself to people.");
  return c;
}

CapabilityDefinition capabilities() {
  auto c =
      about_agent("agent.capabilities", "See what you may call, in short.", "To find what is not among your tools.");
  return c;
}

CapabilityDefinition present_session() {
  auto c = about_agent("agent.session", "See your session and its writes.", "To go on where you were.");
  return c;
}

CapabilityDefinition agent_policy() {
  auto c = about_agent("agent.policy", "See tiers, delays, and limits with their use.",
                       "To learn how many writes you may still ask for, and when more.");
  c.inputs = {host_text("category", "Of one service.")};
  return c;
}

std::string whoami_json(const HandlerContext& context, const CheckedCall& call) {
  const auto& id = call.invocation.agent_id;
  const auto agent = context.records.agents.find(id);
  const auto now = context.clock.wall_ms();
  return json_object([&](JsonWriter& out) {
    put(out, "agent_id", id);
    put(out, "name", agent ? agent->name : call.invocation.agent_name);
    if (agent) put(out, "created_at", format_time(agent->created_at_ms));
    if (agent && agent->key_since_ms != 0) {
      put(out, "key_since", format_time(agent->key_since_ms));
      put(out, "key_age_days", std::max<std::int64_t>(0, now - agent->key_since_ms) / kDayMs);
    }
    put(out, "session_id", session_of(context, call));
    const auto pause = context.records.agents.pauses().holding(id);
    if (!pause) return;
    put_key(out, "paused");
    out.StartObject();
    put(out, "since", format_time(pause->paused_at_ms));
    put(out, "reason", pause->reason);
    out.EndObject();
  });
}

std::vector<Listed> asked_for(const HandlerContext& context, const CheckedCall& call) {
  auto listed = listed_capabilities(context, call.invocation.agent_name);
  const auto category = text_argument(call, "category");
  if (category.empty()) return listed;
  std::erase_if(listed, [&](const Listed& one) { return category_of(one) != category; });
  if (listed.empty())
    throw invalid_input(fmt::format("There is nothing of \"{}\" that you may call; without category you see all.",
                                    printable(category)));
  return listed;
}

std::string capabilities_json(const HandlerContext& context, const CheckedCall& call) {
  return sized_for(call, json_object([&](JsonWriter& out) {
                     put_objects(out, "capabilities", listed_capabilities(context, call.invocation.agent_name),
                                 [&](const Listed& one) {
                                   put(out, "name", one.capability->name);
                                   put(out, "kind", to_string(one.capability->kind));
                                   put(out, "tier", to_string(one.tier()));
                                 });
                   }));
}

std::string session_json(const HandlerContext& context, const CheckedCall& call) {
  const auto session = context.records.sessions.find(session_of(context, call));
  if (!session) throw session_ended(call);
  const auto counts =
      context.writes.ledger.counts_of_session(session->agent_id, session->session_id, session->after_seq);
  return json_object([&](JsonWriter& out) {
    put(out, "session_id", session->session_id);
    put(out, "origin", to_string(session->origin));
    put(out, "name", session->name);
    put(out, "purpose", session->purpose);
    put(out, "created_at", format_time(session->created_at_ms));
    put(out, "ends_at", format_time(session->used_at_ms + context.records.sessions.idle_ms()));
    put_key(out, "writes");
    out.StartObject();
    bool cut = false;
    for (const auto& [state, count] : counts) {
      put(out, to_string(state), count);
      cut = cut || count >= Ledger::kMostCounted;
    }
    out.EndObject();
    if (cut) put(out, "counts_are_cut", true);
  });
}

/// How much of a limit the agent has used, the fullest values of its key first.
void put_used(JsonWriter& out, const HandlerContext& context, const std::string& agent_id, const Limit& limit) {
  const auto uses = context.writes.ledger.limit_use(agent_id, limit);
  std::vector<std::pair<std::string, LimitUse>> fullest(uses.begin(), uses.end());
  std::stable_sort(fullest.begin(), fullest.end(),
                   [](const auto& a, const auto& b) { return a.second.counted > b.second.counted; });
  if (fullest.size() > kMostValues) fullest.resize(kMostValues);
  put_objects(out, "used", fullest, [&](const auto& use) {
    if (!limit.key.empty()) put(out, "value", use.first);
    put(out, "count", use.second.counted);
    if (use.second.free_at_ms != 0) put(out, "free_at", format_time(use.second.free_at_ms));
  });
}

void put_limits(JsonWriter& out, const HandlerContext& context, const std::string& agent_id, const Listed& one) {
  std::vector<Limit> limits;
  for (const auto& limit : one.definition->limits) {
    if (std::count(limit.operations.begin(), limit.operations.end(), one.capability->name) > 0) limits.push_back(limit);
  }
  put_objects(out, "limits", limits, [&](const Limit& limit) {
    put(out, "limit", limit.limit);
    put(out, "window_seconds", limit.window_ms / 1000);
    if (!limit.key.empty()) put(out, "per", limit.key);
    put_used(out, context, agent_id, limit);
  });
}

std::string policy_json(const HandlerContext& context, const CheckedCall& call) {
  const auto& agent = call.invocation.agent_name;
  const auto set = rules_in_force(context);
  return sized_for(call, json_object([&](JsonWriter& out) {
                     put_objects(out, "capabilities", asked_for(context, call), [&](const Listed& one) {
                       const auto& c = *one.capability;
                       put(out, "name", c.name);
                       put(out, "tier", to_string(one.tier()));
                       const auto& rules = set->compiled(agent, c.name).rules();
                       if (!rules.empty() && is_under_rules(one))
                         put_objects(out, "rules", rules, [&](const Rule* rule) {
                           put_rule(out, *rule, false);
                           if (rule->limit) put_used(out, context, call.invocation.agent_id, limit_of(*rule));
                         });
                       if (c.kind != CapabilityKind::kWrite) return;
                       const auto ruled_ms = always_ruled(*set, agent, c).delay_ms;
                       put(out, "delay_seconds", std::max(delay_of(context.options, c), ruled_ms) / 1000);
                       put_limits(out, context, call.invocation.agent_id, one);
                     });
                   }));
}

}  // namespace

std::vector<HostCapability> agent_capabilities() {
  return {
      {whoami(), [](const auto& context, const auto& call) { answer_on_worker(context, call, whoami_json); }},
      {capabilities(),
       [](const auto& context, const auto& call) { answer_on_worker(context, call, capabilities_json); }},
      {present_session(), [](const auto& context, const auto& call) { answer_on_worker(context, call, session_json); }},
      {agent_policy(), [](const auto& context, const auto& call) { answer_on_worker(context, call, policy_json); }}};
}

}  // namespace krux
