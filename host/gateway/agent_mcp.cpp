// What comes to /mcp over HTTP.
#include "core/net/secret.hpp"
#include "core/state/sessions.hpp"
#include "core/util/error.hpp"
#include "host/gateway/gateway_answers.hpp"
#include "host/gateway/gateway_state.hpp"

namespace krux {
namespace {

ServerResponse no_such_session() {
  return error_response(404, ErrorCode::kSessionExpired,
                        "There is no such session of this agent, or it has ended: initialize a new one.");
}

ServerResponse no_such_answer() {
  return error_response(410, ErrorCode::kNotFound,
                        "The answer to go on with is not kept any more: it was given a minute ago or longer, or before "
                        "the host's last start. What was asked for may have been done.");
}

}  // namespace

/// For streams and kept answers, which outlast the request.
std::function<bool()> AgentGateway::State::may_go_on(const ServerRequest& request) {
  const auto key =
      std::make_shared<const SecretBytes>(make_secret(agent_key(request, KeyInAddress::kRefused).value_or("")));
  return [weak = weak_from_this(), key] {
    const auto self = weak.lock();
    return self && self->agent_of(as_view(*key), kMcpPath);
  };
}

void AgentGateway::State::mcp(ServerRequest request, const Respond& respond) {
  auto who = authenticate(request);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return respond(std::move(*refused));
  const auto caller = std::make_shared<AgentMethods::Caller>(std::get<Agent>(std::move(who)));
  const auto head = std::make_shared<mcp::Head>(request);
  if (request.method == "GET" || head->method == "subscriptions/listen" || mcp::goes_on_elsewhere(*head))
    head->goes_on = may_go_on(request);
  const auto& agent_id = caller->agent.agent_id;
  const bool ends = request.method == "DELETE";
  if (!mcp_methods.goes_on(*head, agent_id, ends ? mcp::Methods::Names::kMust : mcp::Methods::Names::kMay))
    return respond(no_such_session());
  if (ends) return end_mcp_session(*head->session, agent_id, respond);
  if (request.method == "GET") {
    auto stream = mcp_methods.listen(*head, agent_id);
    return respond(stream ? event_stream(std::move(stream), request.memory) : no_such_answer());
  }
  take(caller, std::move(request), respond,
       [self = shared_from_this(), caller, head](auto share, auto message, auto to) {
         const auto answer = std::make_shared<mcp::Answer>();
         auto events = self->mcp_methods.events_for(*head, caller->agent.agent_id);
         const auto by_events = std::make_shared<std::atomic<bool>>(false);
         if (head->takes_events && is_single(message))
           answer->begin_events = [share, events, by_events, to](std::function<void()> gone) {
             *by_events = true;
             to(event_stream(events->opening(std::move(gone)), share));
             return events;
           };
         self->run_mcp(caller, share, *head, message, answer, [=, to = std::move(to)](std::string text) {
           if (*by_events) return events->end(text);
           ServerResponse response;
           response.status = text.empty() ? 202 : answer->status;
           response.body = std::move(text);
           response.memory = share;
           if (answer->stream) response = event_stream(answer->stream, share);
           if (!answer->session.empty()) response.headers.emplace_back("Mcp-Session-Id", answer->session);
           to(std::move(response));
         });
       });
}

void AgentGateway::State::end_mcp_session(const std::string& session_id, const std::string& agent_id,
                                          const Respond& respond) {
  api.sessions().end(session_id, agent_id,
                     [self = shared_from_this(), session_id, respond](const std::variant<bool, Error>& outcome) {
                       if (const auto* error = std::get_if<Error>(&outcome))
                         return respond(error_response(error->type(), error->what()));
                       if (std::get<bool>(outcome)) self->mcp_methods.session_ended(session_id);
                       respond(std::get<bool>(outcome) ? ServerResponse{.status = 204} : no_such_session());
                     });
}

void AgentGateway::State::run_mcp(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share,
                                  const mcp::Head& head, std::string_view message,
                                  const std::shared_ptr<mcp::Answer>& answer, Answered answered) {
  if (mcp_methods.take_answer(caller, head, message)) return answered({});
  const auto dispatch = [self = shared_from_this(), caller, share, &head, answer](const RpcRequest& request,
                                                                                  RpcReply reply) {
    self->mcp_methods.run(caller, head, request, answer, [share, reply = std::move(reply)](RpcOutcome outcome) {
      reply(within(*share, std::move(outcome)));
    });
  };
  run_json_rpc(message, dispatch, {}, std::move(answered));
}

}  // namespace krux
