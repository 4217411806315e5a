// What agents reach, by key: JSON-RPC 2.0 over POST /rpc and WebSockets, the Model Context Protocol over /mcp, and
// uploads over POST /uploads. And the health pages beside it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/capability/capability_handler.hpp"
#include "core/capability/completion.hpp"
#include "core/state/agents.hpp"
#include "core/util/clock.hpp"
#include "host/gateway/agent_memory.hpp"
#include "host/http/http_types.hpp"

namespace krux {

class SessionStore;

struct UploadRequest {
  std::string agent_id, filename, mime_type;
  std::shared_ptr<BodyFile> file;
};

/// What the gateway needs of the host. Any thread; only invoke(), approval(), transaction(), asked_approval(), values()
/// and add_upload() may take their time, by calling back later. All but authenticate(), active(), sessions(),
/// why_not_ask(), why_not_hear_state(), transaction(), asked_approval() and those of uploads are called within
/// in_turn().
class AgentApi {
 public:
  virtual ~AgentApi() = default;
  /// The agent whose key this is, unless it was revoked.
  virtual std::optional<Agent> authenticate(std::string_view key) = 0;
  /// The agent of that id, for whom somebody has signed in, unless it was revoked. A host without sign-in has none.
  virtual std::optional<Agent> active(const std::string& agent_id) {
    (void)agent_id;
    return std::nullopt;
  }
  virtual SessionStore& sessions() = 0;
  /// As CapabilityHandler's members of these names. A host without workers runs `work` at once.
  virtual void in_turn(const std::string& agent_id, std::function<void()> work, std::function<void(Error)> refused,
                       RunsOn on) {
    (void)agent_id, (void)refused, (void)on;
    work();
  }
  virtual void invoke(Invocation invocation, std::function<void(InvocationResult)> done) = 0;
  /// As CapabilityHandler::why_not_ask(). A host whose capabilities ask nothing has no reason.
  virtual std::optional<Error> why_not_ask(const Invocation& invocation, const Questions& questions) {
    (void)invocation, (void)questions;
    return std::nullopt;
  }
  /// As CapabilityHandler::approval().
  virtual void approval(const std::string& agent_id, const std::string& approval_id, std::int64_t wait_ms,
                        std::function<void(std::variant<std::string, Error>)> done) = 0;
  /// As CapabilityHandler::transaction(). A host without writes has none.
  virtual void transaction(TransactionStep step, std::function<void(std::variant<std::string, Error>)> done) {
    done(invalid_input("There is no transaction " + step.transaction_id + " of yours."));
  }
  /// As CapabilityHandler::asked_approval(). A host without writes has none.
  virtual void asked_approval(const std::string& agent_id, const std::string& write_id,
                              std::function<void(AskedOutcome)> done) {
    (void)agent_id, (void)write_id;
    done(std::nullopt);
  }
  /// These three: to the agent of that name.
  virtual std::string list_json(const std::string& agent, const CatalogueFilter& filter) = 0;
  virtual std::optional<std::string> describe_json(const std::string& agent, const std::string& name) = 0;
  virtual std::vector<Offered> offered(const std::string& agent) = 0;
  /// Whether there is such a capability, offered or not.
  virtual bool knows(const std::string& capability) = 0;
  /// Whether a call of it may take longer than a read of what is here.
  virtual bool takes_time(const std::string& capability) = 0;
  /// As CapabilityHandler::takes_long(). A host without adapters has no such read.
  virtual TakesLong takes_long(const std::string& capability) {
    (void)capability;
    return TakesLong::kNo;
  }
  virtual std::vector<std::string> services() = 0;
  /// Those of its inputs that clients repeat in headers over HTTP.
  virtual std::vector<InputDefinition> header_inputs(const std::string& capability) {
    (void)capability;
    return {};
  }
  /// As RecordWatches::watch(). A host without replicas has nothing to watch.
  virtual std::shared_ptr<void> watch_record(const std::string& service, const RecordAddress& record,
                                             std::function<void()> changed) {
    (void)service, (void)record, (void)changed;
    return nullptr;
  }
  /// As CapabilityHandler::why_not_hear_state(). A host without state tells nothing of it.
  virtual std::optional<Error> why_not_hear_state(const std::string& agent_id) {
    (void)agent_id;
    return Error(ErrorCode::kUnsupported, "This host keeps no state for agents.");
  }
  /// As CapabilityHandler::values(). A host without replicas has none.
  virtual void values(const ValuesWanted& wanted, std::function<void(std::variant<Completion, Error>)> done) {
    (void)wanted;
    done(Completion());
  }

  /// Where the next upload's bytes go, and how many.
  virtual BodyToFile upload_target() = 0;
  /// Bytes that the agent's uploads may have together beyond those that are there. May throw krux::Error.
  virtual std::int64_t upload_room(const std::string& agent_id) = 0;
  /// What arrived there, from `agent_id`. `done` gets one JSON object that describes the upload, or an error.
  virtual void add_upload(const UploadRequest& upload, std::function<void(std::variant<std::string, Error>)> done) = 0;
};

class AgentMeters;
class ClientDocuments;
class SignInStore;
struct StateChange;
struct WriteRecord;

struct GatewayLimits {
  std::size_t calls_per_connection = 64;  ///< in flight: of a message, which may be a batch, or of a WebSocket
  std::size_t calls_per_agent = 256;
  std::size_t uploads_per_agent = 4;  ///< that arrive at a time
  std::size_t uploads = 32;           ///< of all agents
  MemoryLimits memory;                ///< of messages and their answers, until these are sent
};

/// Both, or none: then nobody can sign in.
struct SignInParts {
  SignInStore* store = nullptr;
  ClientDocuments* documents = nullptr;
};

struct GatewayOptions {
  GatewayLimits limits;
  AgentMeters* meters = nullptr;
  /// Of _meta in answers to reads over /mcp, {integrity, confidentiality}; empty: not told.
  std::string labels_key = "ifc";
  SignInParts sign_in;
  /// Of web pages that may use /mcp and sign-in, "https://app.example"; those of the host's own machine may not read
  /// its answers either unless they stand here.
  std::vector<std::string> allowed_origins = {};
};

/// Serves as an HttpServer's handler on any of its threads. What it is given must outlive the server, and the
/// meters, into which requests are counted, every call.
class AgentGateway {
 public:
  AgentGateway(AgentApi& api, Clock& clock, GatewayOptions options = {});
  ~AgentGateway();
  AgentGateway(const AgentGateway&) = delete;
  AgentGateway& operator=(const AgentGateway&) = delete;

  /// Where sign-in is possible: under which origin its clients reach this gateway, "https://kruxos.example". Before it
  /// is served.
  void set_origin(const std::string& origin);
  /// Where the operator's page is on this machine: clients that can are asked to lead their users there. 0: nobody is.
  void set_page_port(std::uint16_t port);

  /// Only a request whose Host header names this machine's loopback, or that origin, is served then: a foreign page
  /// whose name resolves to 127.0.0.1 gets nothing. For listeners bound to the loopback. There, and under `tls`, the
  /// address of a WebSocket may have the key.
  Handler handler(bool loopback_only, bool tls = false);
  /// For the same listener: whose a request is, before its body arrives. Nothing is taken in of one without a valid
  /// key.
  Admission admission(bool loopback_only, bool tls = false);

  /// To be called when capabilities have changed, or may have: clients that wait to hear of it are told. Any thread,
  /// also after this gateway.
  std::function<void()> on_capabilities_changed();
  /// To be called with a write of which something has changed, once that is durable: its agent's clients that wait to
  /// hear of it are told. As the above.
  std::function<void(const WriteRecord&)> on_write_changed();
  /// To be called with a change of the shared state, once that is durable, and the name of the agent that has made it:
  /// clients that wait to hear of it are told. As the above.
  std::function<void(const StateChange&, const std::string& by)> on_state_changed();
  /// To be called when an agent's key, or a token, has ended: its WebSockets and streams do. As the above.
  std::function<void()> on_keys_changed();

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with calls under way
};

struct Health {
  std::string status;  ///< "ok", "degraded", "critical"
  bool ready = false;
  std::string json;  ///< one object with the details, `status` among them
};

/// Any thread; must not block.
class HealthSource {
 public:
  virtual ~HealthSource() = default;
  virtual Health health() = 0;
};

/// GET /health (503 when critical) and /health/ready (503 until ready), and /metrics where there is `metrics`, which
/// must not block. `source` must outlive the server.
Handler health_handler(HealthSource& source, std::function<void(Respond)> metrics = {});

}  // namespace krux
