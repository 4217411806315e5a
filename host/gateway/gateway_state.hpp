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
#include "host/gateway/failed_tries.hpp"
#include "host/gateway/mcp/methods.hpp"
#include "host/gateway/upload_places.hpp"

namespace krux {

/// What each message takes up besides its body: its answer, so far as that is short.
inline constexpr std::size_t kMessageBytes = 128 << 10;
/// What takes longer to be taken apart is none of a receiving thread's business.
inline constexpr std::size_t kShortMessage = 4 << 10;

struct AgentGateway::State : std::enable_shared_from_this<State> {
  State(AgentApi& agent_api, Clock& clock, GatewayLimits limits, AgentMeters* agent_meters, std::string labels_key)
      : api(agent_api),
        meters(agent_meters),
        tries(clock),
        methods(agent_api, limits, agent_meters),
        mcp_methods(methods, agent_api, agent_meters, std::move(labels_key)),
        memory(limits.memory),
        places(limits.uploads_per_agent, limits.uploads) {}

  /// The agent, or the answer that refuses the request.
  std::variant<Agent, ServerResponse> authenticate(const ServerRequest& request,
                                                   KeyInAddress in_address = KeyInAddress::kRefused);
  static RunsOn where(std::string_view message);

  /// One message, once its agent has its turn.
  using Run = std::function<void(const std::shared_ptr<MemoryShare>&, std::string_view message, Respond)>;
  void take(const AgentMethods::CallerPtr& caller, ServerRequest request, const Respond& respond, Run run);
  void rpc(ServerRequest request, const Respond& respond);
  void mcp(ServerRequest request, const Respond& respond);
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
  /// Ends those whose key is not valid any more.
  void look_at_keys();

  AgentApi& api;
  AgentMeters* const meters;
  FailedTries tries;
  AgentMethods methods;
  mcp::Methods mcp_methods;
  AgentMemory memory;
  UploadPlaces places;
  std::mutex sockets_mutex;
  std::map<Socket*, std::weak_ptr<Socket>> sockets;  ///< those that are open, under the lock
};

}  // namespace krux
