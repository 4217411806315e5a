#include "host/gateway/agent_gateway.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/metrics/agent_meters.hpp"
#include "core/state/sessions.hpp"
#include "core/util/error.hpp"
#include "core/vault/secret.hpp"
#include "host/gateway/foreign_requests.hpp"
#include "host/gateway/gateway_answers.hpp"
#include "host/gateway/gateway_state.hpp"
#include "host/http/http_server.hpp"
#include "host/http/web_socket_handshake.hpp"

namespace krux {
namespace {

/// What a request says of its body's length; nothing where that shows at its end alone.
std::optional<std::uint64_t> declared_length(const ServerRequest& head) {
  if (head.header("transfer-encoding")) return std::nullopt;
  const auto text = head.header("content-length").value_or("0");
  std::uint64_t length = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), length);
  return parsed.ec == std::errc() ? std::optional(length) : std::nullopt;
}

/// Whether it asks for a WebSocket where there is one.
bool wants_socket(const ServerRequest& request) {
  return asks_for_web_socket(request) && (request.path == "/" || request.path == kRpcPath || request.path == kMcpPath);
}

NamedHost names(const ServerRequest& request, std::string_view public_origin) {
  return named_host(request.header("host").value_or(""), public_origin);
}

}  // namespace

std::optional<ServerResponse> AgentGateway::State::refuse_unknown(const ServerRequest& request,
                                                                  bool loopback_only) const {
  const bool is_mcp = request.path == kMcpPath;
  const bool signs_in = is_sign_in(request);
  const bool allowed = is_for_pages(request) && pages.allows(request);
  const auto served = allowed ? WebPages::kAny : is_mcp || signs_in ? WebPages::kOwn : WebPages::kNone;
  if (auto refused = refuse_foreign(request, loopback_only, served, origin())) return refused;
  // What stands before the host opens no more of it than those who sign in need.
  const bool is_local = wants_socket(request) || request.path == kRpcPath || request.path == kUploadsPath;
  if (loopback_only && is_local && names(request, origin()) == NamedHost::kPublic)
    return error_response(ErrorCode::kPolicyDenied,
                          "Under its public address the host serves sign-in and the Model Context Protocol over HTTP "
                          "(/mcp). Agents on its machine reach the rest under 127.0.0.1.");
  if (allowed) {
    if (auto answer = pages.preflight(request)) return answer;
  }
  if (signs_in) return SignIn::refuse(request);
  if (wants_socket(request)) return why_no_web_socket(request);
  if (!is_mcp && request.path != kRpcPath && request.path != kUploadsPath)
    return error_response(ErrorCode::kNotFound,
                          "There is nothing here: agents send JSON-RPC to POST /rpc, or over a WebSocket to /rpc, the "
                          "Model Context Protocol to /mcp, and files to POST /uploads.");
  if (request.method != "POST" && !(is_mcp && (request.method == "DELETE" || request.method == "GET")))
    return wrong_method(is_mcp ? "POST, GET, DELETE" : "POST");
  return std::nullopt;
}

bool AgentGateway::State::is_for_pages(const ServerRequest& request) const {
  return request.path == kMcpPath || (sign_in && SignIn::is_for_programs(request.path));
}

Respond AgentGateway::State::readable(const ServerRequest& request, const Respond& respond) const {
  if (!pages.allows_any() || !is_for_pages(request)) return respond;
  ServerResponse added;
  pages.let_read(request, added);
  return [respond, headers = std::move(added.headers)](ServerResponse response) {
    response.headers.insert(response.headers.end(), headers.begin(), headers.end());
    respond(std::move(response));
  };
}

/// Of one call, the read is answered by the thread that received it.
RunsOn AgentGateway::State::where(std::string_view message) {
  return message.size() <= kShortMessage && is_single(message) && HttpServer::thread_is_lent() ? RunsOn::kCaller
                                                                                               : RunsOn::kWorker;
}

std::optional<Agent> AgentGateway::State::agent_of(std::string_view credential, std::string_view path) {
  if (!is_access_token(credential)) return api.authenticate(credential);
  if (!sign_in || path != kMcpPath) return std::nullopt;
  const auto owner = sign_in->owner_of(credential);
  return owner ? api.active(owner->agent_id) : std::nullopt;
}

std::variant<Agent, ServerResponse> AgentGateway::State::authenticate(const ServerRequest& request,
                                                                      KeyInAddress in_address) {
  const auto address = tries_key(request.peer.address);
  const auto key = agent_key(request, in_address);
  // A right key always passes: it cannot be guessed, and on one machine all agents share an address.
  if (auto agent = key ? agent_of(*key, request.path) : std::nullopt) return *std::move(agent);
  const bool challenges = sign_in && request.path == kMcpPath;
  const bool shows_none = !request.header("authorization") && !key;
  // Hosts begin without a token, and come back with one that has run out: neither is a guess, and behind something that
  // does TLS strangers share their address.
  const bool shows_token = key && is_access_token(*key);
  if (challenges && (shows_none || shows_token)) {
    if (meters) meters->refused(AgentMeters::Refusal::kWrongKey);
    return sign_in->challenge(shows_token ? SignIn::Shown::kToken : SignIn::Shown::kNothing);
  }
  const auto wait_ms = tries.locked_for(address);
  if (meters) meters->refused(wait_ms ? AgentMeters::Refusal::kLockedOut : AgentMeters::Refusal::kWrongKey);
  if (wait_ms) return locked(request.path, *wait_ms);
  tries.failed(address);
  return challenges ? sign_in->challenge(SignIn::Shown::kKey) : not_authenticated(request.path);
}

void AgentGateway::State::rpc(ServerRequest request, const Respond& respond) {
  auto who = authenticate(request);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return respond(std::move(*refused));
  const auto caller = std::make_shared<AgentMethods::Caller>(std::get<Agent>(std::move(who)));
  take(caller, std::move(request), respond, [self = shared_from_this(), caller](auto share, auto message, auto to) {
    self->run(caller, share, message, [share, to = std::move(to)](std::string text) {
      ServerResponse response;
      response.status = text.empty() ? 204 : 200;
      response.body = std::move(text);
      response.memory = share;
      to(std::move(response));
    });
  });
}

void AgentGateway::State::take(const AgentMethods::CallerPtr& caller, ServerRequest request, const Respond& respond,
                               Run run) {
  const auto& agent_id = caller->agent.agent_id;
  // Before it is taken apart: of an agent that has all that it may have under way, no more than its key is looked at.
  if (const auto full = methods.all_taken(agent_id)) {
    if (meters) meters->requested("unknown", rpc_code::kRateLimit);
    return respond(refusal(request.path, *full));
  }
  const auto share = request.memory ? request.memory : memory.take(agent_id, kMessageBytes);
  if (!share) return respond(not_read());
  // What it costs to take a message apart and to check what is in it, its agent decides: not on an event loop.
  const auto message = std::make_shared<const std::string>(std::move(request.body));
  api.in_turn(
      agent_id, [share, message, respond, run = std::move(run)] { run(share, *message, respond); },
      [respond, path = request.path](const Error& why) { respond(refusal(path, why)); }, where(*message));
}

void AgentGateway::State::run(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share,
                              std::string_view message, Answered answered) {
  const auto dispatch = [self = shared_from_this(), caller, share](const RpcRequest& request, RpcReply reply) {
    self->methods.run(caller, request.method, request.params, [share, reply = std::move(reply)](RpcOutcome outcome) {
      reply(within(*share, std::move(outcome)));
    });
  };
  run_json_rpc(message, dispatch, {}, std::move(answered));
}

void AgentGateway::State::upload(const ServerRequest& request, Respond respond) {
  auto who = authenticate(request);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return respond(std::move(*refused));
  UploadRequest upload{std::get<Agent>(who).agent_id, query_value(request.query, "filename").value_or(""),
                       std::string(request.header("content-type").value_or("")), request.body_file};
  // Who has the answer may send the next one at once.
  const auto room = request.body_file ? request.body_file->room : nullptr;
  api.add_upload(upload, [respond = std::move(respond), room](std::variant<std::string, Error> outcome) {
    if (room) room->give_back();
    if (const auto* error = std::get_if<Error>(&outcome)) {
      return respond(error_response(error->type(), error->what()));
    }
    ServerResponse response;
    response.status = 201;
    response.body = std::move(std::get<std::string>(outcome));
    respond(std::move(response));
  });
}

/// A message is in memory before it can be looked at, and its answer until it is sent: both are counted beforehand.
std::variant<Admitted, Refused> AgentGateway::State::admit_message(const ServerRequest& head,
                                                                   const std::string& agent_id) {
  const std::uint64_t most = HttpLimits().body_bytes;
  const auto bytes = std::min(declared_length(head).value_or(most), most);
  auto share = memory.take(agent_id, static_cast<std::size_t>(bytes) + kMessageBytes);
  if (!share) return Refused{not_read(), agent_id};
  return Admitted{agent_id, std::move(share)};
}

std::variant<Admitted, Refused> AgentGateway::State::admit_upload(const ServerRequest& head,
                                                                  const std::string& agent_id) {
  auto target = api.upload_target();
  const auto bytes = std::min(declared_length(head).value_or(target.most_bytes), target.most_bytes);
  try {
    auto place = places.take(agent_id, static_cast<std::int64_t>(bytes), [&] { return api.upload_room(agent_id); });
    if (const auto* why = std::get_if<std::string>(&place)) return Refused{not_now(*why), agent_id};
    target.room = std::get<std::shared_ptr<BodyRoom>>(std::move(place));
  } catch (const Error& error) {
    return Refused{error_response(error.type(), error.what()), agent_id};
  }
  return Admitted{agent_id, nullptr, std::move(target)};
}

std::variant<Admitted, Refused> AgentGateway::State::admit(const ServerRequest& head, KeyInAddress in_address) {
  auto who = authenticate(head, in_address);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return Refused{std::move(*refused)};
  const auto& agent_id = std::get<Agent>(who).agent_id;
  if (wants_socket(head)) return admit_socket(agent_id);
  return head.path == kUploadsPath ? admit_upload(head, agent_id) : admit_message(head, agent_id);
}

AgentGateway::AgentGateway(AgentApi& api, Clock& clock, GatewayOptions options)
    : state_(std::make_shared<State>(api, clock, std::move(options))) {}

/// Calls that wait for an answer hold what they are answered by.
AgentGateway::~AgentGateway() {
  state_->mcp_methods.end();
}

void AgentGateway::set_origin(const std::string& origin) {
  if (state_->sign_in) state_->sign_in->set_origin(origin);
}

void AgentGateway::set_page_port(std::uint16_t port) {
  state_->mcp_methods.set_page_port(port);
}

namespace {

/// Clients that cannot set headers may have it in the address of a WebSocket, where nobody between reads that: TLS ends
/// here, or the request was made for this machine by name.
KeyInAddress key_in_address(const ServerRequest& request, bool loopback_only, bool tls) {
  const bool unread = tls || (loopback_only && names(request, {}) == NamedHost::kLoopback);
  return unread && wants_socket(request) ? KeyInAddress::kTaken : KeyInAddress::kRefused;
}

}  // namespace

Handler AgentGateway::handler(bool loopback_only, bool tls) {
  return [state = state_, loopback_only, tls](ServerRequest request, const Respond& to) {
    const auto respond = state->readable(request, to);
    if (auto refused = state->refuse_unknown(request, loopback_only)) return respond(*std::move(refused));
    if (state->is_sign_in(request)) return state->sign_in->handle(std::move(request), respond);
    if (wants_socket(request)) return respond(state->open_socket(request, key_in_address(request, loopback_only, tls)));
    if (request.path == kUploadsPath) return state->upload(request, respond);
    request.path == kMcpPath ? state->mcp(std::move(request), respond) : state->rpc(std::move(request), respond);
  };
}

Admission AgentGateway::admission(bool loopback_only, bool tls) {
  const auto verdict = [state = state_, loopback_only,
                        tls](const ServerRequest& head) -> std::variant<Admitted, Refused> {
    if (auto refused = state->refuse_unknown(head, loopback_only)) return Refused{*std::move(refused)};
    if (state->is_sign_in(head)) return Admitted{};  // a small body of anybody
    return state->admit(head, key_in_address(head, loopback_only, tls));
  };
  return [state = state_, verdict](const ServerRequest& head) {
    auto outcome = verdict(head);
    auto* refused = std::get_if<Refused>(&outcome);
    if (refused && state->is_for_pages(head)) state->pages.let_read(head, refused->response);
    return outcome;
  };
}

std::function<void()> AgentGateway::on_capabilities_changed() {
  return [weak = std::weak_ptr(state_)] {
    const auto state = weak.lock();
    if (!state) return;
    state->mcp_methods.capabilities_changed();
    state->methods.events()->capabilities_changed();
  };
}

std::function<void(const WriteRecord&)> AgentGateway::on_write_changed() {
  return [events = state_->methods.events(), weak = std::weak_ptr(state_)](const WriteRecord& write) {
    events->write_changed(write);
    if (const auto state = weak.lock()) state->mcp_methods.write_changed(write);
  };
}

std::function<void(const StateChange&, const std::string&)> AgentGateway::on_state_changed() {
  return [weak = std::weak_ptr(state_)](const StateChange& change, const std::string& by) {
    const auto state = weak.lock();
    if (!state) return;
    state->methods.events()->state_changed(
        change, by, [&](const std::string& agent_id) { return !state->api.why_not_hear_state(agent_id); });
  };
}

std::function<void()> AgentGateway::on_keys_changed() {
  return [weak = std::weak_ptr(state_)] {
    if (const auto state = weak.lock()) state->look_at_keys();
  };
}

}  // namespace krux
