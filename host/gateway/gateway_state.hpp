// What the gateway's handlers share. Internal to the gateway.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/agent_key.hpp"
#include "host/gateway/agent_methods.hpp"
#include "host/gateway/cross_origin.hpp"
#include "host/gateway/failed_tries.hpp"
#include "host/gateway/mcp/methods.hpp"
#include "host/gateway/sign_in.hpp"
#include "host/gateway/upload_places.hpp"

namespace krux {

/// What each message takes up besides its body: its answer, so far as that is short.
inline constexpr std::size_t kMessageBytes = 128 << 10;
/// What takes longer to be taken apart is none of a receiving thread's business.
inline constexpr std::size_t kShortMessage = 4 << 10;

struct AgentGateway::State : std::enable_shared_from_this<State> {
  State(AgentApi& agent_api, Clock& clock, GatewayOptions options)
      : api(agent_api),
        meters(options.meters),
        tries(clock),
        methods(agent_api, clock, options.limits, options.meters),
        mcp_methods(methods, agent_api, clock, options.meters, std::move(options.labels_key)),
        memory(options.limits.memory),
        places(options.limits.uploads_per_agent, options.limits.uploads),
        pages(std::move(options.allowed_origins)),
        sign_in(options.sign_in.store ? std::make_unique<SignIn>(options.sign_in, clock) : nullptr) {}

  /// Why a request is for nobody here; its path may be one of sign-in.
  std::optional<ServerResponse> refuse_unknown(const ServerRequest& request, bool loopback_only) const;
  /// The public origin; empty: there is none.
  std::string_view origin() const { return sign_in ? std::string_view(sign_in->origin()) : std::string_view(); }
  bool is_sign_in(const ServerRequest& request) const { return sign_in && SignIn::serves(request.path); }

  /// Whether web pages of allowed origins may ask for it.
  bool is_for_pages(const ServerRequest& request) const;
  /// The same, which a page may read where it is of an allowed origin.
  Respond readable(const ServerRequest& request, const Respond& respond) const;

  /// Whose a key is, or an access token, which is good for /mcp alone.
  std::optional<Agent> agent_of(std::string_view credential, std::string_view path);
  /// The agent, or the answer that refuses the request.
  std::variant<Agent, ServerResponse> authenticate(const ServerRequest& request,
                                                   KeyInAddress in_address = KeyInAddress::kRefused);
  static RunsOn where(std::string_view message);

  /// One message, once its agent has its turn.
  using Run = std::function<void(const std::shared_ptr<MemoryShare>&, std::string_view message, Respond)>;
  void take(const AgentMethods::CallerPtr& caller, ServerRequest request, const Respond& respond, Run run);
  void rpc(ServerRequest request, const Respond& respond);
  void mcp(ServerRequest request, const Respond& respond);
  std::function<bool()> may_go_on(const ServerRequest& request);
  void end_mcp_session(const std::string& session_id, const std::string& agent_id, const Respond& respond);
  void upload(const ServerRequest& request, Respond respond);

  /// A message's answer is empty where it asks for none. `message` and `head` are lent for the call.
  using Answered = std::function<void(std::string)>;
  void run(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share, std::string_view message,
           Answered answered);
  void run_mcp(const AgentMethods::CallerPtr& caller, const std::shared_ptr<MemoryShare>& share, const mcp::Head& head,
               std::string_view message, const std::shared_ptr<mcp::Answer>& answer, Answered answered);

  std::variant<Admitted, Refused> admit(const ServerRequest& head, KeyInAddress in_address);
  std::variant<Admitted, Refused> admit_message(const ServerRequest& head, const std::string& agent_id);
  std::variant<Admitted, Refused> admit_upload(const ServerRequest& head, const std::string& agent_id);

  /// An agent's WebSocket; see agent_sockets.cpp.
  class Socket;
  std::variant<Admitted, Refused> admit_socket(const std::string& agent_id);
  ServerResponse open_socket(const ServerRequest& request, KeyInAddress in_address);
  /// Ends WebSockets and streams whose key or token is not valid any more.
  void look_at_keys();

  AgentApi& api;
  AgentMeters* const meters;
  FailedTries tries;
  AgentMethods methods;
  mcp::Methods mcp_methods;
  AgentMemory memory;
  UploadPlaces places;
  const CrossOrigin pages;
  const std::unique_ptr<SignIn> sign_in;  ///< nullptr: there is none
  std::mutex sockets_mutex;
  std::map<Socket*, std::weak_ptr<Socket>> sockets;  ///< those that are open, under the lock
};

}  // namespace krux
