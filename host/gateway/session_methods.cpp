// The methods that are answered later: sessions, which are stored, and approvals, which are waited for.
#include <fmt/format.h>

#include "core/metrics/agent_meters.hpp"
#include "core/state/sessions.hpp"
#include "core/util/json_out.hpp"
#include "host/gateway/agent_methods.hpp"
#include "host/gateway/rpc_params.hpp"

namespace krux {
namespace {

constexpr std::string_view kCheck = "approvals.check", kWait = "approvals.wait";
/// In seconds: what a client that names no time waits, and the longest.
constexpr std::int64_t kUsualWait = 50, kLongestWait = 600;

std::string created_json(const AgentSession& session, const std::string& agent, std::int64_t idle_ms) {
  return json_object([&](JsonWriter& out) {
    put(out, "session_id", session.session_id);
    put(out, "agent", agent);
    put(out, "agent_id", session.agent_id);
    put(out, "agent_name", session.name);
    put(out, "purpose", session.purpose);
    put(out, "created_at", format_time(session.created_at_ms));
    put(out, "expires_in", idle_ms / 1000);
  });
}

}  // namespace

void AgentMethods::create_session(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  AgentSession asked;
  asked.agent_id = caller->agent.agent_id;
  asked.name = params.text("agent_name");
  if (asked.name.empty()) asked.name = caller->agent.name;
  asked.purpose = params.text("purpose", 4 * kMaxLabel);
  api_.sessions().create(std::move(asked), [reply = counted(reply, "session.create"), agent = caller->agent.name,
                                            idle_ms = api_.sessions().idle_ms()](const auto& outcome) {
    if (const auto* error = std::get_if<Error>(&outcome)) return reply(rpc_error(*error));
    reply(created_json(std::get<AgentSession>(outcome), agent, idle_ms));
  });
}

void AgentMethods::end_session(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  const auto id = params.required("session_id");
  api_.sessions().end(id, caller->agent.agent_id, [reply = counted(reply, "session.end")](const auto& outcome) {
    if (const auto* error = std::get_if<Error>(&outcome)) return reply(rpc_error(*error));
    if (!std::get<bool>(outcome)) return reply(rpc_error(session_expired()));
    reply(R"({"ended":true})");
  });
}

void AgentMethods::check_approval(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  tell_of_approval(caller, kCheck, params.required("approval_id"), 0, reply);
}

void AgentMethods::wait_for_approval(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  const auto seconds = params.number("timeout", 0, kLongestWait).value_or(kUsualWait);
  tell_of_approval(caller, kWait, params.required("approval_id"), 1000 * seconds, reply);
}

/// As one of the caller's calls in flight: whoever waits takes a place.
void AgentMethods::tell_of_approval(const CallerPtr& caller, std::string_view method, const std::string& approval_id,
                                    std::int64_t wait_ms, const RpcReply& reply) {
  auto places = take_places(caller);
  if (const auto* full = std::get_if<Error>(&places)) return answer(reply, method, rpc_error(*full));
  api_.approval(caller->agent.agent_id, approval_id, wait_ms,
                [places = std::get<Places>(std::move(places)), reply = counted(reply, method)](auto outcome) mutable {
                  places = {};
                  if (const auto* error = std::get_if<Error>(&outcome)) return reply(rpc_error(*error));
                  reply(std::move(std::get<std::string>(outcome)));
                });
}

}  // namespace krux
