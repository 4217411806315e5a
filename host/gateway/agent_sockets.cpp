// Agents' WebSockets: JSON-RPC at / and /rpc, the Model Context Protocol at /mcp.
#include <vector>

#include "core/metrics/agent_meters.hpp"
#include "core/net/secret.hpp"
#include "host/gateway/foreign_requests.hpp"
#include "host/gateway/gateway_answers.hpp"
#include "host/gateway/gateway_state.hpp"
#include "host/http/web_socket_handshake.hpp"

namespace krux {
namespace {

/// What a WebSocket takes up while nothing is said.
constexpr std::size_t kSocketBytes = 16 << 10;
constexpr std::string_view kMcpProtocol = "mcp";

/// A message that was refused without a look at it. A short one is small enough to see whose answer this is, and in a
/// long one to see that it asks for none.
SocketMessage refused_message(std::string_view message, const Error& why) {
  const bool is_short = message.size() <= kShortMessage;
  if (!message.empty() && (is_short ? is_notification(message) : message.find("\"id\"") == std::string_view::npos))
    return {{}, nullptr, true};
  return {rpc_error_text(is_short ? rpc_id_of(message) : "null", rpc_error(why)), nullptr, true};
}

}  // namespace

class AgentGateway::State::Socket final : public SocketUser, public std::enable_shared_from_this<Socket> {
 public:
  enum class Speaks { kJsonRpc, kMcp };
  Socket(std::shared_ptr<State> gateway, Agent agent, std::string_view key, Speaks speaks, const ServerRequest& request)
      : gateway_(std::move(gateway)),
        agent_(std::move(agent)),
        key_(make_secret(key)),
        speaks_(speaks),
        share_(request.memory) {
    head_.tools = query_value(request.query, "tools").value_or("");
    head_.on_this_machine = is_of_this_machine(request);
  }
  ~Socket() override {
    if (caller_) gateway_->methods.connection_lost(*caller_);
    if (head_.conversation) gateway_->mcp_methods.session_ended(head_.conversation->key());
    const std::lock_guard lock(gateway_->sockets_mutex);
    gateway_->sockets.erase(this);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void opened(std::shared_ptr<ResponseStream> out) override;
  bool goes_on() override {
    return gateway_->agent_of(as_view(key_), speaks_ == Speaks::kMcp ? kMcpPath : kRpcPath).has_value();
  }
  bool make_room(std::shared_ptr<MemoryShare>& held, std::size_t bytes) override;
  SocketMessage without_room() override { return refused_message({}, not_read_error()); }
  void take(SocketMessage message, const SocketReply& reply) override;
  /// Any thread, once it is open.
  void look_at_key();

 private:
  void run(const std::shared_ptr<MemoryShare>& share, std::string_view message, const SocketReply& reply);

  const std::shared_ptr<State> gateway_;
  const Agent agent_;
  const SecretBytes key_;
  const Speaks speaks_;
  const std::shared_ptr<MemoryShare> share_;
  // Constant from opened() on.
  AgentMethods::CallerPtr caller_;
  mcp::Head head_;
};

void AgentGateway::State::Socket::opened(std::shared_ptr<ResponseStream> out) {
  if (speaks_ == Speaks::kMcp) head_.conversation = std::make_shared<mcp::Conversation>(out);
  caller_ = std::make_shared<AgentMethods::Caller>(agent_, std::move(out));
  const std::lock_guard lock(gateway_->sockets_mutex);
  gateway_->sockets[this] = weak_from_this();
}

bool AgentGateway::State::Socket::make_room(std::shared_ptr<MemoryShare>& held, std::size_t bytes) {
  if (held) return held->grow(bytes);
  held = gateway_->memory.take(agent_.agent_id, bytes + kMessageBytes);
  return held != nullptr;
}

/// As a message over HTTP: what it costs to take it apart, its agent decides.
void AgentGateway::State::Socket::take(SocketMessage message, const SocketReply& reply) {
  const auto& agent_id = agent_.agent_id;
  const auto text = std::make_shared<const std::string>(std::move(message.text));
  gateway_->api.in_turn(
      agent_id, [self = shared_from_this(), share = message.memory, text, reply] { self->run(share, *text, reply); },
      [text, reply](const Error& why) { reply(refused_message(*text, why)); }, where(*text));
}

void AgentGateway::State::Socket::run(const std::shared_ptr<MemoryShare>& share, std::string_view message,
                                      const SocketReply& reply) {
  auto answered = [share, reply](std::string text) { reply({std::move(text), share}); };
  if (speaks_ == Speaks::kJsonRpc) return gateway_->run(caller_, share, message, std::move(answered));
  gateway_->run_mcp(caller_, share, head_, message, std::make_shared<mcp::Answer>(), std::move(answered));
}

void AgentGateway::State::Socket::look_at_key() {
  if (!goes_on()) caller_->to->end();
}

std::variant<Admitted, Refused> AgentGateway::State::admit_socket(const std::string& agent_id) {
  auto share = memory.take(agent_id, kSocketBytes);
  if (!share) return Refused{not_read(), agent_id};
  return Admitted{agent_id, std::move(share)};
}

ServerResponse AgentGateway::State::open_socket(const ServerRequest& request, KeyInAddress in_address) {
  using Speaks = Socket::Speaks;
  auto who = authenticate(request, in_address);
  if (auto* refused = std::get_if<ServerResponse>(&who)) return std::move(*refused);
  const bool is_mcp = request.path == kMcpPath;
  auto socket = std::make_shared<Socket>(shared_from_this(), std::get<Agent>(std::move(who)),
                                         agent_key(request, in_address).value_or(""),
                                         is_mcp ? Speaks::kMcp : Speaks::kJsonRpc, request);
  const bool named = is_mcp && offers_protocol(request, kMcpProtocol);
  return accept_web_socket(request, named ? kMcpProtocol : "", std::move(socket));
}

void AgentGateway::State::look_at_keys() {
  std::vector<std::shared_ptr<Socket>> open;
  {
    const std::lock_guard lock(sockets_mutex);
    for (const auto& [raw, socket] : sockets) {
      if (auto alive = socket.lock()) open.push_back(std::move(alive));
    }
  }
  for (const auto& socket : open) socket->look_at_key();
  mcp_methods.end_those_without_leave();
  mcp_methods.end_tasks_without_agent();
}

}  // namespace krux
