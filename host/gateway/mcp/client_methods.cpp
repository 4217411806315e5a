// What a client says of itself, answers, and wants to hear.
#include <kruxos/abi/call.h>

#include "host/gateway/mcp/client_abilities.hpp"
#include "host/gateway/mcp/method_call.hpp"

namespace krux::mcp {
namespace {

constexpr std::string_view kCapabilities = "io.modelcontextprotocol/clientCapabilities",
                           kLogLevel = "io.modelcontextprotocol/logLevel";

}  // namespace

SessionClient Methods::client_of(const Call& call) const {
  if (!call.stateless) return clients_.of(call.caller->agent.agent_id, call.session());
  SessionClient client;
  if (const auto* all = find(call.meta, kCapabilities, JsonKind::kObject)) client.abilities = abilities_of(all->raw);
  if (const auto* level = find(call.meta, kLogLevel, JsonKind::kString))
    client.log_level = log_level_of(level->text).value_or(kHearsNothing);
  return client;
}

/// It has said so, it is where the page is, and what it is asked can reach it.
std::uint16_t Methods::leads_to(const Call& call) const {
  const bool is_reached = call.stateless || call.head.conversation || call.answer->begin_events;
  if (page_port_ == 0 || !call.head.on_this_machine || !is_reached) return 0;
  return (client_of(call).abilities & KRUX_ASK_URL) != 0 ? page_port_.load() : 0;
}

RpcOutcome Methods::set_log_level(const Call& call) {
  const auto* name = find(call.params, "level", JsonKind::kString);
  const auto level = name ? log_level_of(name->text) : std::nullopt;
  if (!level)
    return invalid_params("\"level\" must be debug, info, notice, warning, error, critical, alert or emergency.");
  if (const auto session = call.session(); !session.empty())
    clients_.set_log_level(call.caller->agent.agent_id, session, *level);
  return "{}";
}

void Methods::know_client(const std::string& agent_id, const std::string& session, std::string_view capabilities_json) {
  clients_.began(agent_id, session, abilities_of(capabilities_json));
}

void Methods::session_ended(const std::string& session) {
  questions_.session_ended(session);
  invitations_.session_ended(session);
  subscriptions_->end(session);
  kept_.end(session);
}

bool Methods::take_answer(const AgentMethods::CallerPtr& caller, const Head& head, std::string_view message) {
  // Nearly every message is a request, and need not be taken apart twice.
  constexpr auto kNone = std::string_view::npos;
  if (message.find("\"result\"") == kNone && message.find("\"error\"") == kNone) return false;
  const auto session = session_key(head);
  std::string why;
  const auto parts = session.empty() ? std::nullopt : take_apart(message, {}, why);
  const bool is_answer = parts && parts->kind == JsonKind::kObject && !parts->find("method");
  const auto* id = is_answer ? find(*parts, "id", JsonKind::kString) : nullptr;
  const auto* result = id ? find(*parts, "result", JsonKind::kObject) : nullptr;
  const auto* error = id ? find(*parts, "error", JsonKind::kObject) : nullptr;
  if ((result == nullptr) == (error == nullptr)) return false;
  questions_.answered(caller->agent.agent_id, session, id->raw, result ? result->raw : std::string_view(),
                      error ? error->raw : std::string_view());
  return true;
}

/// Of the stateless model: what the client brings along from the call before.
std::optional<RpcError> Methods::given_input(const Call& call, GivenInput& given) {
  if (!call.stateless) return std::nullopt;
  if (const auto* state = call.params.find("requestState")) {
    if (state->kind != JsonKind::kString) return invalid_params("\"requestState\" must be a string, as it was given.");
    given.request_state = state->text;
  }
  const auto* responses = call.params.find("inputResponses");
  return responses ? given_answers(responses, given.responses) : std::nullopt;
}

/// Null: there are none.
std::optional<RpcError> Methods::given_answers(const JsonSpan* responses, ClientAnswers& answers) {
  std::string why;
  const auto all = responses && responses->kind == JsonKind::kObject ? members(responses->raw, why) : std::nullopt;
  if (!all) return invalid_params("\"inputResponses\" must be an object: each answer under the name of its question.");
  for (const auto& member : all->members) answers.emplace(member.name, member.value.raw);
  return std::nullopt;
}

}  // namespace krux::mcp
