// The JSON-RPC methods of an authenticated agent.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/util/error.hpp"
#include "host/gateway/agent_events.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/gateway/sessions.hpp"

namespace krux {

/// Any thread. Calls under way outlive nothing they need: counters are shared with them.
class AgentMethods {
 public:
  /// Who sends a message, or all of a WebSocket's; with a count of calls in flight of its own.
  struct Caller {
    explicit Caller(Agent a, std::shared_ptr<ResponseStream> t = nullptr) : agent(std::move(a)), to(std::move(t)) {}
    const Agent agent;
    const std::shared_ptr<ResponseStream> to;  ///< where events are told; null over HTTP
    std::atomic<std::size_t> in_flight{0};
  };
  using CallerPtr = std::shared_ptr<Caller>;

  AgentMethods(AgentApi& api, Clock& clock, GatewayLimits limits, AgentMeters* meters);

  /// Why no call of this agent would begin now.
  std::optional<Error> all_taken(const std::string& agent_id);

  const std::shared_ptr<AgentEvents>& events() const { return events_; }

  void run(const CallerPtr& caller, const std::string& method, std::string_view params, RpcReply reply);

  /// Invokes a capability for the caller, as one of his calls in flight; `done` once, on any thread. Returned instead:
  /// why he may not have one more.
  std::optional<Error> call(const CallerPtr& caller, Invocation invocation,
                            std::function<void(const InvocationResult&)> done);

 private:
  struct Params;
  using Method = RpcOutcome (AgentMethods::*)(const Caller&, const Params&);

  RpcOutcome create_session(const Caller& caller, const Params& params);
  RpcOutcome end_session(const Caller& caller, const Params& params);
  RpcOutcome list(const Caller& caller, const Params& params);
  RpcOutcome describe(const Caller& caller, const Params& params);
  RpcOutcome subscribe(const Caller& caller, const Params& params);
  /// Takes `reply` only when nothing more can throw.
  void invoke(const CallerPtr& caller, const Params& params, RpcReply& reply);

  using Counter = std::shared_ptr<std::atomic<std::size_t>>;
  Counter counter_of(const std::string& agent_id);

  void answer(const RpcReply& reply, std::string_view method, RpcOutcome outcome) const;

  AgentApi& api_;
  Clock& clock_;
  const GatewayLimits limits_;
  AgentMeters* const meters_;
  Sessions sessions_;
  const std::shared_ptr<AgentEvents> events_ = std::make_shared<AgentEvents>();
  std::mutex mutex_;
  std::map<std::string, Counter> in_flight_;  ///< by agent
};

}  // namespace krux
