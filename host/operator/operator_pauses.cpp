// Agents as the operator sees them, and pausing them.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/state/agent_pauses.hpp"
#include "core/util/json_out.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

void put_pause(JsonWriter& out, std::string_view name, const AgentPause& pause) {
  put_key(out, name);
  out.StartObject();
  put(out, "paused_at_ms", pause.paused_at_ms);
  put(out, "paused_by", pause.paused_by);
  put(out, "reason", pause.reason);
  out.EndObject();
}

}  // namespace

void OperatorService::put_agent(JsonWriter& out, const Agent& agent) const {
  put(out, "agent_id", agent.agent_id);
  put(out, "name", agent.name);
  put(out, "revoked", agent.revoked);
  put(out, "created_at_ms", agent.created_at_ms);
  put(out, "last_seen_ms", agent.last_seen_ms);
  put(out, "revoked_at_ms", agent.revoked_at_ms);
  put(out, "key_since_ms", agent.key_since_ms);
  if (agent.old_key_until_ms != 0) put(out, "old_key_until_ms", agent.old_key_until_ms);
  if (const auto pause = parts_.agents.pauses().of(agent.agent_id)) put_pause(out, "paused", *pause);
}

void OperatorService::put_one_agent(JsonWriter& out, const Agent& agent) const {
  put_key(out, "agent");
  out.StartObject();
  put_agent(out, agent);
  out.EndObject();
}

void OperatorService::put_pause_of_all(JsonWriter& out) const {
  if (const auto pause = parts_.agents.pauses().of({})) put_pause(out, "all_paused", *pause);
}

std::string OperatorService::agent_json(const Agent& agent, const std::string& key) const {
  return json_object([&](JsonWriter& out) {
    put_one_agent(out, agent);
    put_pause_of_all(out);
    if (!key.empty()) put(out, "key", key);
  });
}

/// Those that are not revoked.
std::int64_t OperatorService::paused_by_themselves() const {
  const auto agents = parts_.agents.list();
  return std::count_if(agents.begin(), agents.end(), [&](const Agent& agent) {
    return !agent.revoked && parts_.agents.pauses().of(agent.agent_id).has_value();
  });
}

std::string OperatorService::pause_agent(const std::string& name_or_id, const std::string& reason,
                                         const std::string& who) {
  agent(name_or_id);
  const auto paused = *parts_.agents.find(name_or_id);
  if (paused.revoked)
    throw conflict(
        fmt::format("The agent \"{}\" is revoked: nothing of it goes on that could be paused.", paused.name));
  parts_.agents.pauses().pause(paused.agent_id, reason, who);
  spdlog::info("{} paused agent {}", who, paused.name);
  return agent_json(paused, "");
}

std::string OperatorService::resume_agent(const std::string& name_or_id, const std::string& who) {
  agent(name_or_id);
  const auto resumed = *parts_.agents.find(name_or_id);
  if (parts_.agents.pauses().resume(resumed.agent_id, who)) spdlog::info("{} resumed agent {}", who, resumed.name);
  return agent_json(resumed, "");
}

std::string OperatorService::pause_all(const std::string& reason, const std::string& who) {
  parts_.agents.pauses().pause({}, reason, who);
  spdlog::info("{} paused all agents", who);
  return json_object([&](JsonWriter& out) {
    put(out, "agents_paused", paused_by_themselves());
    put_pause_of_all(out);
  });
}

std::string OperatorService::resume_all(const std::string& who) {
  if (parts_.agents.pauses().resume({}, who)) spdlog::info("{} resumed all agents", who);
  return json_object([&](JsonWriter& out) { put(out, "agents_paused", paused_by_themselves()); });
}

}  // namespace krux
