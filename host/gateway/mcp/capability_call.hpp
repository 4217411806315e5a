// One call of a capability for a client, with all that is told and asked until it is answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/capability/capability_handler.hpp"
#include "core/util/cancellation.hpp"
#include "host/gateway/agent_methods.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/gateway/mcp/call_channel.hpp"
#include "host/gateway/mcp/calls.hpp"
#include "host/gateway/mcp/client_questions.hpp"
#include "host/gateway/mcp/invitations.hpp"
#include "host/gateway/mcp/inviting_wait.hpp"
#include "host/gateway/mcp/question_forms.hpp"
#include "host/gateway/mcp/request_state.hpp"
#include "host/gateway/mcp/tasks.hpp"

namespace krux::mcp {

/// What all calls share; outlives them.
struct CallParts {
  AgentMethods& agents;
  AgentApi& api;
  ClientQuestions& questions;
  const StateSeal& seal;
  Tasks& tasks;
  Invitations& invitations;
};

/// What a client of the stateless model brings along from the call before.
struct GivenInput {
  std::optional<std::string> request_state;
  ClientAnswers responses;
};

/// Of a wait for a write: where its client can lead its user meanwhile.
struct InvitesTo {
  std::string write_id;
  std::uint16_t page_port = 0;
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
  std::shared_ptr<Progress> progress;      ///< null: the client does not want to hear of it
  bool may_be_task = false;                ///< it goes on as one where it is not answered soon
  std::optional<InvitesTo> invites;        ///< of the stateless model: by a result, before it waits
  std::shared_ptr<InvitingWait> inviting;  ///< of the others: while it waits; null: it does not invite
  std::function<RpcOutcome(const InvocationResult&)> outcome_of;
  RpcReply reply;                       ///< runs once at most
  std::function<void(int)> set_status;  ///< of the answer over HTTP, before the reply
};

/// Runs on with each answer; nothing waits meanwhile. Once it is a task, what it has to say goes there. Any thread.
class CapabilityCall final : public TaskWork, public std::enable_shared_from_this<CapabilityCall> {
 public:
  static constexpr int kMostRounds = 8;  ///< so often one call may ask

  CapabilityCall(const CallParts& parts, CapabilityCallOptions options);

  void begin();
  /// Its client waits for the answer no more: nothing where it is a task.
  void give_up();
  void take_answers(const ClientAnswers& answers) override;
  void look_again() override;
  void end_work() override;
  /// How far it has come, for who asks about its task.
  void say(std::string_view how_far);
  /// Held until it has been answered.
  void hold(std::shared_ptr<void> what) { held_ = std::move(what); }

 private:
  static constexpr int kBadRequest = 400;
  CallName name() const;
  /// `answered`: what was asked before; empty at first.
  void invoke(std::string answers_json, const Questions& answered);
  std::shared_ptr<const ReadDialogue> dialogue(std::string answers_json, const Questions& answered);
  void take(const InvocationResult& result);
  bool take_given(const Questions& questions);
  void ask(const Questions& questions, const InvocationResult& result);
  /// `until_boot_ms`: of what is asked once more; see RequestState.
  void ask_by_result(const Questions& questions, std::int64_t until_boot_ms = 0);
  void ask_client(const Questions& questions);
  void go_on(const Questions& questions, const ClientAnswers& answers);
  std::optional<Error> why_not_ask(const Questions& questions) const;
  void refuse(RpcError error, int status = 0) { finish(std::move(error), status); }
  void answer(const InvocationResult& result) { finish(options_.outcome_of(result)); }
  void fail(const Error& error) { answer({false, {}, error_json(error, nullptr)}); }
  void finish(RpcOutcome outcome, int status = 0);

  void reply_with(const RpcReply& reply, RpcOutcome outcome, int status = 0);
  /// Whoever has it answers. Null: its task does, or it has been answered.
  RpcReply take_reply();
  /// Under the keys that the client answers by.
  using Keyed = std::vector<std::pair<std::string, Question>>;
  std::string requests_json(const Keyed& questions) const;

  // To the operator's page, by a result; capability_invitation.cpp.
  void begin_inviting();
  void invite_or_wait(const std::optional<AskedApproval>& approval);

  // As a task; capability_task.cpp.
  void become_task();
  void end_task(RpcOutcome outcome);
  void ask_in_task(const Questions& questions);

  const CallParts parts_;
  CapabilityCallOptions options_;
  std::shared_ptr<void> held_;
  // The call's own, one step after the other.
  int round_ = 0;
  ClientAnswers given_;

  std::mutex mutex_;  ///< over what follows, and options_.reply
  bool given_up_ = false;
  ClientQuestions::Number asked_ = 0;
  std::string task_, said_;
  Keyed open_;             ///< what the task asks and has no answer to
  Questions all_asked_;    ///< with what has one
  ClientAnswers answers_;  ///< by the questions' names
};

}  // namespace krux::mcp
