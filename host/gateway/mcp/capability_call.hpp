// One call of a capability for a client, with all that is told and asked until it is answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/capability/capability_handler.hpp"
#include "core/util/cancellation.hpp"
#include "host/gateway/agent_methods.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/gateway/mcp/call_channel.hpp"
#include "host/gateway/mcp/calls.hpp"
#include "host/gateway/mcp/client_questions.hpp"
#include "host/gateway/mcp/question_forms.hpp"
#include "host/gateway/mcp/request_state.hpp"

namespace krux::mcp {

/// What all calls share; outlives them.
struct CallParts {
  AgentMethods& agents;
  ClientQuestions& questions;
  const StateSeal& seal;
};

/// What a client of the stateless model brings along from the call before.
struct GivenInput {
  std::optional<std::string> request_state;
  ClientAnswers responses;
};

struct CapabilityCallOptions {
  AgentMethods::CallerPtr caller;
  Invocation invocation;  ///< without a dialogue
  Model model = Model::kStateless;
  std::string session;  ///< in which the client is asked
  std::uint32_t can_ask = 0;
  std::int32_t log_level = 0;  ///< the least that the client hears
  std::string logger;          ///< whose messages and questions these are, for the client: the tool's name
  GivenInput given;
  std::shared_ptr<CallChannel> channel;
  std::shared_ptr<Progress> progress;  ///< null: the client does not want to hear of it
  std::function<RpcOutcome(const InvocationResult&)> outcome_of;
  RpcReply reply;                       ///< runs once at most
  std::function<void(int)> set_status;  ///< of the answer over HTTP, before the reply
};

/// Runs on with each answer; nothing waits meanwhile. Any thread.
class CapabilityCall : public std::enable_shared_from_this<CapabilityCall> {
 public:
  static constexpr int kMostRounds = 8;  ///< so often one call may ask

  CapabilityCall(const CallParts& parts, CapabilityCallOptions options);

  void begin();
  /// Its client wants no answer any more.
  void give_up();
  /// Held until it has been answered.
  void hold(std::shared_ptr<void> what) { held_ = std::move(what); }

 private:
  CallName name() const;
  /// `answered`: what was asked before; empty at first.
  void invoke(std::string answers_json, const Questions& answered);
  std::shared_ptr<const ReadDialogue> dialogue(std::string answers_json, const Questions& answered) const;
  void take(const InvocationResult& result);
  bool take_given(const Questions& questions);
  void ask(const Questions& questions, const InvocationResult& result);
  /// `until_boot_ms`: of what is asked once more; see RequestState.
  void ask_by_result(const Questions& questions, std::int64_t until_boot_ms = 0);
  void ask_client(const Questions& questions);
  void go_on(const Questions& questions, const ClientAnswers& answers);
  void refuse(RpcError error, int status = 0);
  void answer(const InvocationResult& result) { finish(options_.outcome_of(result)); }
  void fail(const Error& error) { answer({false, {}, error_json(error, nullptr)}); }
  void finish(RpcOutcome outcome);

  const CallParts parts_;
  CapabilityCallOptions options_;
  std::shared_ptr<void> held_;
  // The call's own, one step after the other.
  int round_ = 0;
  ClientAnswers given_;

  std::mutex mutex_;  ///< over what follows
  bool given_up_ = false;
  ClientQuestions::Number asked_ = 0;
};

}  // namespace krux::mcp
