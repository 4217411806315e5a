#include "host/gateway/agent_gateway.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>

#include "core/metrics/agent_meters.hpp"
#include "core/util/error.hpp"
#include "host/gateway/agent_methods.hpp"
#include "host/gateway/failed_tries.hpp"
#include "host/gateway/foreign_requests.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/gateway/mcp/methods.hpp"
#include "host/gateway/upload_places.hpp"
#include "host/http/http_server.hpp"

namespace krux {
namespace {

constexpr const char *kRpc = "/rpc", *kMcp = "/mcp", *kUploads = "/uploads";
/// What each message takes up besides its body: its answer, so far as that is short.
constexpr std::size_t kMessageBytes = 128 << 10;
/// A result of this length needs no room of its own: a write's acknowledgement above all.
constexpr std::size_t kShortResult = 2 << 10;
/// What takes longer to be taken apart is none of a receiving thread's business.
constexpr std::size_t kShortMessage = 4 << 10;

/// Server-sent events.
ServerResponse event_stream(std::function<void(std::shared_ptr<ResponseStream>)> stream,
                            std::shared_ptr<MemoryShare> memory) {
  ServerResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("X-Accel-Buffering", "no");  // for proxies, which would hold events back
  response.memory = std::move(memory);
  response.stream = std::move(stream);
  return response;
}

/// The message's id is not known: it has not been looked at, or not to its end.
/// To /mcp the codes of our own mean something else.
ServerResponse refusal(std::string_view path, const Error& why) {
  auto response = error_response(why.type(), why.what());
  if (path != kMcp) response.body = rpc_error_text("null", rpc_error(why));
  if (why.retryable()) response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds(why)));
  return response;
}

ServerResponse not_authenticated(std::string_view path) {
  auto response =
      refusal(path, {ErrorCode::kNotAuthenticated,
                     "A valid agent key is needed: send \"Authorization: Bearer <key>\". The operator makes "
                     "keys with `kruxos agent create <name>`."});
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"kruxos\"");
  return response;
}

ServerResponse locked(std::string_view path, std::int64_t wait_ms) {
  return refusal(path, {ErrorCode::kRateLimited,
                        fmt::format("Too many tries with a wrong key came from this address. Try again in {} s.",
                                    (wait_ms + 999) / 1000),
                        true, wait_ms});
}

ServerResponse wrong_method(const char* allowed) {
  auto response =
      error_response(405, ErrorCode::kInvalidInput, fmt::format("This path is served to {} only.", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

ServerResponse not_now(const std::string& why) {
  auto response = error_response(ErrorCode::kRateLimited, why);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

ServerResponse not_read() {
  return not_now(
      "The messages of this agent that are not answered yet, and the answers that it has not read, hold as much memory "
      "as an agent may have. Read the answers, then send this one again.");
}

/// A result that would be too much is left out: the agent has others to read first.
RpcOutcome within(MemoryShare& memory, RpcOutcome outcome) {
  const auto* result = std::get_if<std::string>(&outcome);
  if (!result || result->size() <= kShortResult || memory.grow(result->size())) return outcome;
  return rpc_error({ErrorCode::kRateLimited,
                    "The call was carried out, but its answer is left out: this agent's answers that are not sent yet "
                    "hold as much memory as an agent may have. Read those, then ask again, for less at a time; a write "
                    "is in proxy.list_writes."});
}

/// What a request says of its body's length; nothing where that shows at its end alone.
std::optional<std::uint64_t> declared_length(const ServerRequest& head) {
  if (head.header("transfer-encoding")) return std::nullopt;
  const auto text = head.header("content-length").value_or("0");
  std::uint64_t length = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), length);
  return parsed.ec == std::errc() ? std::optional(length) : std::nullopt;
}

/// The key of "Authorization: Bearer <64 hex>".
std::optional<std::string_view> bearer_key(const ServerRequest& request) {
  const auto header = request.header("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (!header || header->size() != scheme.size() + 64) return std::nullopt;
  for (std::size_t i = 0; i < scheme.size(); ++i) {
    if (((*header)[i] | 0x20) != (scheme[i] | 0x20)) return std::nullopt;
  }
  const auto key = header->substr(scheme.size());
  return std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isxdigit(c); }) ? std::optional(key)
                                                                                               : std::nullopt;
}

std::optional<ServerResponse> refuse_unknown(const ServerRequest& request, bool loopback_only) {
  const bool is_mcp = request.path == kMcp;
  const auto served = is_mcp ? WebPages::kOwn : WebPages::kNone;
  if (auto refused = refuse_foreign(request, loopback_only, served)) return refused;
  if (!is_mcp && request.path != kRpc && request.path != kUploads)
    return error_response(ErrorCode::kNotFound,
                          "There is nothing here: agents send JSON-RPC to POST /rpc, the Model Context Protocol to "
                          "/mcp, and files to POST /uploads.");
  if (request.method != "POST" && !(is_mcp && (request.method == "DELETE" || request.method == "GET")))
    return wrong_method(is_mcp ? "POST, GET, DELETE" : "POST");
  return std::nullopt;
}

}  // namespace

struct AgentGateway::State : std::enable_shared_from_this<State> {
  State(AgentApi& agent_api, Clock& clock, GatewayLimits limits, AgentMeters* agent_meters, std::string labels_key)
      : api(agent_api),
        meters(agent_meters),
        tries(clock),
        methods(agent_api, clock, limits, agent_meters),
        mcp_methods(methods, agent_api, clock, agent_meters, std::move(labels_key)),
        memory(limits.memory),
        places(limits.uploads_per_agent, limits.uploads) {}

  /// The agent, or the answer that refuses the request.
  std::variant<Agent, ServerResponse> authenticate(const ServerRequest& request);
  RunsOn where(const std::string& agent_id, std::string_view message);
  /// One message, once its agent has its turn.
  using Run = std::function<void(const std::shared_ptr<MemoryShare>&, std::string_view message, Respond)>;
  void take(const AgentMethods::CallerPtr& caller, ServerRequest request, const Respond& respond, Run run);
  void rpc(ServerRequest request, const Respond& respond);
  void run(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share, std::string_view message,
           Respond respond);
  void mcp(ServerRequest request, const Respond& respond);
  void run_mcp(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share, const mcp::Head& head,
               std::string_view message, Respond respond);
  void upload(const ServerRequest& request, Respond respond);
  std::variant<Admitted, Refused> admit(const ServerRequest& head);
  std::variant<Admitted, Refused> admit_message(const ServerRequest& head, const std::string& agent_id);
  std::variant<Admitted, Refused> admit_upload(const ServerRequest& head, const std::string& agent_id);

  AgentApi& api;
  AgentMeters* const meters;
  FailedTries tries;
  AgentMethods methods;
  mcp::Methods mcp_methods;
  AgentMemory memory;
  UploadPlaces places;
};

/// Of one call, the read is answered by the thread that received it, unless its agent has others under way.
RunsOn AgentGateway::State::where(const std::string& agent_id, std::string_view message) {
  const bool single = message.size() <= kShortMessage && message.find_first_not_of(" \t\r\n") != message.find('[');
  return single && HttpServer::thread_is_lent() && !methods.any_under_way(agent_id) ? RunsOn::kCaller : RunsOn::kWorker;
}

std::variant<Agent, ServerResponse> AgentGateway::State::authenticate(const ServerRequest& request) {
  const auto address = tries_key(request.peer.address);
  const auto key = bearer_key(request);
  // A right key always passes: it cannot be guessed, and on one machine all agents share an address.
  if (auto agent = key ? api.authenticate(*key) : std::nullopt) return *std::move(agent);
  const auto wait_ms = tries.locked_for(address);
  if (meters) meters->refused(wait_ms ? AgentMeters::Refusal::kLockedOut : AgentMeters::Refusal::kWrongKey);
  if (wait_ms) return locked(request.path, *wait_ms);
  tries.failed(address);
  return not_authenticated(request.path);
}

void AgentGateway::State::rpc(ServerRequest request, const Respond& respond) {
  auto who = authenticate(request);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return respond(std::move(*refused));
  const auto caller = std::make_shared<AgentMethods::Caller>(std::get<Agent>(std::move(who)));
  take(caller, std::move(request), respond, [self = shared_from_this(), caller](auto share, auto message, auto to) {
    self->run(caller, share, message, std::move(to));
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
      [respond, path = request.path](const Error& why) { respond(refusal(path, why)); }, where(agent_id, *message));
}

void AgentGateway::State::run(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share,
                              std::string_view message, Respond respond) {
  const auto dispatch = [self = shared_from_this(), caller, share](const RpcRequest& request, RpcReply reply) {
    self->methods.run(caller, request.method, request.params, [share, reply = std::move(reply)](RpcOutcome outcome) {
      reply(within(*share, std::move(outcome)));
    });
  };
  run_json_rpc(message, dispatch, {}, [share, respond = std::move(respond)](std::string text) {
    ServerResponse response;
    response.status = text.empty() ? 204 : 200;
    response.body = std::move(text);
    response.memory = share;
    respond(std::move(response));
  });
}

void AgentGateway::State::mcp(ServerRequest request, const Respond& respond) {
  auto who = authenticate(request);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return respond(std::move(*refused));
  const auto caller = std::make_shared<AgentMethods::Caller>(std::get<Agent>(std::move(who)));
  const auto head = std::make_shared<const mcp::Head>(request);
  const auto& agent_id = caller->agent.agent_id;
  const bool ends = request.method == "DELETE";
  if (ends ? !mcp_methods.end_session(*head, agent_id) : !mcp_methods.goes_on(*head, agent_id))
    return respond(error_response(404, ErrorCode::kSessionExpired,
                                  "There is no such session of this agent, or it has ended: initialize a new one."));
  if (ends) return respond({.status = 204});
  if (request.method == "GET") return respond(event_stream(mcp_methods.listen(*head, agent_id), request.memory));
  take(caller, std::move(request), respond,
       [self = shared_from_this(), caller, head](auto share, auto message, auto to) {
         self->run_mcp(caller, share, *head, message, std::move(to));
       });
}

void AgentGateway::State::run_mcp(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share,
                                  const mcp::Head& head, std::string_view message, Respond respond) {
  const auto answer = std::make_shared<mcp::Answer>();
  const auto dispatch = [self = shared_from_this(), caller, share, &head, answer](const RpcRequest& request,
                                                                                  RpcReply reply) {
    self->mcp_methods.run(caller, head, request, answer, [share, reply = std::move(reply)](RpcOutcome outcome) {
      reply(within(*share, std::move(outcome)));
    });
  };
  run_json_rpc(message, dispatch, {}, [share, answer, respond = std::move(respond)](std::string text) {
    ServerResponse response;
    response.status = text.empty() ? 202 : answer->status;
    response.body = std::move(text);
    response.memory = share;
    if (answer->stream) response = event_stream(answer->stream, share);
    if (!answer->session.empty()) response.headers.emplace_back("Mcp-Session-Id", answer->session);
    respond(std::move(response));
  });
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

std::variant<Admitted, Refused> AgentGateway::State::admit(const ServerRequest& head) {
  auto who = authenticate(head);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return Refused{std::move(*refused)};
  const auto& agent_id = std::get<Agent>(who).agent_id;
  return head.path == kUploads ? admit_upload(head, agent_id) : admit_message(head, agent_id);
}

AgentGateway::AgentGateway(AgentApi& api, Clock& clock, GatewayLimits limits, AgentMeters* meters,
                           std::string labels_key)
    : state_(std::make_shared<State>(api, clock, limits, meters, std::move(labels_key))) {}

AgentGateway::~AgentGateway() = default;

Handler AgentGateway::handler(bool loopback_only) {
  return [state = state_, loopback_only](ServerRequest request, const Respond& respond) {
    if (auto refused = refuse_unknown(request, loopback_only)) return respond(*std::move(refused));
    if (request.path == kUploads) return state->upload(request, respond);
    request.path == kMcp ? state->mcp(std::move(request), respond) : state->rpc(std::move(request), respond);
  };
}

std::function<void()> AgentGateway::on_capabilities_changed() {
  return [streams = state_->mcp_methods.streams()] { streams->tools_changed(); };
}

Admission AgentGateway::admission(bool loopback_only) {
  return [state = state_, loopback_only](const ServerRequest& head) -> std::variant<Admitted, Refused> {
    if (auto refused = refuse_unknown(head, loopback_only)) return Refused{*std::move(refused)};
    return state->admit(head);
  };
}

Handler health_handler(HealthSource& source, std::function<void(Respond)> metrics) {
  return [&source, metrics = std::move(metrics)](const ServerRequest& request, const Respond& respond) {
    if (auto refused = refuse_foreign(request, true)) return respond(*std::move(refused));
    const bool ready = request.path == "/health/ready";
    const bool page = metrics && request.path == "/metrics";
    if (!ready && !page && request.path != "/health")
      return respond(
          error_response(ErrorCode::kNotFound, fmt::format("There is nothing here but /health{} /health/ready{}",
                                                           metrics ? "," : " and", metrics ? " and /metrics." : ".")));
    if (request.method != "GET") return respond(wrong_method("GET, HEAD"));
    if (page) return metrics(respond);
    Health health = source.health();
    ServerResponse response;
    const bool good = ready ? health.ready : health.status != "critical";
    response.status = good ? 200 : 503;
    response.body = ready ? fmt::format(R"({{"ready":{}}})", health.ready) : std::move(health.json);
    respond(std::move(response));
  };
}

}  // namespace krux
