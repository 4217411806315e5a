// The JSON-RPC methods of an authenticated agent.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "core/state/sessions.hpp"
#include "core/util/error.hpp"
#include "host/gateway/agent_events.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/json_rpc.hpp"

namespace krux {

class RpcParams;

/// Any thread. Calls under way outlive nothing they need: counters are shared with them.
class AgentMethods {
 public:
  /// Who sends a message, or all of a WebSocket's; with a count of calls in flight of its own.
  struct Caller {
    explicit Caller(Agent a, std::shared_ptr<ResponseStream> t = nullptr) : agent(std::move(a)), to(std::move(t)) {}
    const Agent agent;
    const std::shared_ptr<ResponseStream> to;  ///< where events are told; null over HTTP
    std::atomic<std::size_t> in_flight{0};

    /// A transaction that is to end with the connection, and ends by itself at `until_ms` (boot clock); false: the
    /// connection is lost already.
    bool begun(const std::string& transaction, std::int64_t until_ms, std::int64_t now_ms);
    void ended(const std::string& transaction);
    /// By id, those that were begun and not ended.
    std::map<std::string, std::int64_t> lose();

   private:
    std::mutex mutex_;
    std::map<std::string, std::int64_t> transactions_;  ///< by id: when it ends by itself
    bool lost_ = false;
  };
  using CallerPtr = std::shared_ptr<Caller>;

  AgentMethods(AgentApi& api, const Clock& clock, GatewayLimits limits, AgentMeters* meters);
  ~AgentMethods();
  AgentMethods(const AgentMethods&) = delete;
  AgentMethods& operator=(const AgentMethods&) = delete;

  /// Why no call of this agent would begin now.
  std::optional<Error> all_taken(const std::string& agent_id);

  const std::shared_ptr<AgentEvents>& events() const { return events_; }

  /// What was begun on it and has not ended is rolled back.
  void connection_lost(Caller& caller);

  void run(const CallerPtr& caller, const std::string& method, std::string_view params, const RpcReply& reply);

  /// Invokes a capability for the caller, as one of his calls in flight; `done` once, on any thread. Returned instead:
  /// why he may not have one more.
  std::optional<Error> call(const CallerPtr& caller, Invocation invocation,
                            std::function<void(const InvocationResult&)> done);
  /// AgentApi::values() in the same way.
  std::optional<Error> values(const CallerPtr& caller, ValuesWanted wanted,
                              std::function<void(const std::variant<Completion, Error>&)> done);

 private:
  struct Row;
  static std::span<const Row> rows();

  RpcOutcome list(const Caller& caller, const RpcParams& params);
  RpcOutcome describe(const Caller& caller, const RpcParams& params);
  RpcOutcome subscribe(const Caller& caller, const RpcParams& params);
  // These take a copy of `reply` only when nothing more can throw.
  void create_session(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void end_session(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void invoke(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void check_approval(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void wait_for_approval(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void tell_of_approval(const CallerPtr& caller, std::string_view method, const std::string& approval_id,
                        std::int64_t wait_ms, const RpcReply& reply);

  void begin_transaction(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void commit_transaction(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void roll_back_transaction(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void transaction_status(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply);
  void end_transaction(const CallerPtr& caller, std::string_view method, TransactionStep::What what,
                       const RpcParams& params, const RpcReply& reply);
  void transaction_step(const CallerPtr& caller, std::string_view method, TransactionStep step,
                        std::function<void(const std::string&)> went_well, const RpcReply& reply);
  /// The way to the host of answers that may come when this is gone.
  struct Link {
    std::mutex mutex;
    AgentApi* api;
  };
  static void roll_back_lost(Link& link, const std::string& agent_id, std::string transaction_id);

  /// Of one call in flight, until both go.
  struct Places {
    std::shared_ptr<void> of_connection, of_agent;
  };
  std::variant<Places, Error> take_places(const CallerPtr& caller);
  using Counter = std::shared_ptr<std::atomic<std::size_t>>;
  Counter counter_of(const std::string& agent_id);

  void answer(const RpcReply& reply, std::string_view method, RpcOutcome outcome) const;
  /// For an answer to come; it may come after this. `method` is not copied.
  RpcReply counted(RpcReply reply, std::string_view method) const;

  AgentApi& api_;
  const Clock& clock_;
  const GatewayLimits limits_;
  AgentMeters* const meters_;
  const std::shared_ptr<AgentEvents> events_;
  const std::shared_ptr<Link> link_;
  std::mutex mutex_;
  std::map<std::string, Counter> in_flight_;  ///< by agent
};

}  // namespace krux
