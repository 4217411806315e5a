// The methods of the Model Context Protocol, in both of its models.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "host/gateway/agent_methods.hpp"
#include "host/gateway/mcp/call_channel.hpp"
#include "host/gateway/mcp/calls.hpp"
#include "host/gateway/mcp/capability_call.hpp"
#include "host/gateway/mcp/client_abilities.hpp"
#include "host/gateway/mcp/client_questions.hpp"
#include "host/gateway/mcp/head.hpp"
#include "host/gateway/mcp/invitations.hpp"
#include "host/gateway/mcp/inviting_wait.hpp"
#include "host/gateway/mcp/kept_events.hpp"
#include "host/gateway/mcp/request_state.hpp"
#include "host/gateway/mcp/streams.hpp"
#include "host/gateway/mcp/subscriptions.hpp"
#include "host/gateway/mcp/task_view.hpp"
#include "host/gateway/mcp/tasks.hpp"
#include "host/gateway/mcp/tool_names.hpp"
#include "host/gateway/mcp/tools.hpp"
#include "host/gateway/mcp/wait_watches.hpp"

namespace krux::mcp {

/// What the answer's head is to say besides; written before the reply.
struct Answer {
  int status = 200;
  std::string session;  ///< that was opened
  /// Instead of the reply: see ServerResponse.
  std::function<void(std::shared_ptr<ResponseStream>)> stream;
  /// Of a single request whose client takes events: begins to answer by them. `gone`: as CallEvents::opening().
  std::function<std::shared_ptr<CallEvents>(std::function<void()> gone)> begin_events;
};

/// Any thread.
class Methods {
 public:
  /// `labels_key`: see ResultForm.
  Methods(AgentMethods& agents, AgentApi& api, Clock& clock, AgentMeters* meters, std::string labels_key)
      : agents_(agents),
        api_(api),
        labels_key_(std::move(labels_key)),
        questions_(clock),
        kept_(clock),
        seal_(clock),
        clock_(clock),
        tasks_(clock),
        meters_(meters) {}

  /// `reply` once, on any thread.
  void run(const AgentMethods::CallerPtr& caller, const Head& head, const RpcRequest& request,
           const std::shared_ptr<Answer>& answer, RpcReply reply);

  /// Whether the message was a client's answer to what it was asked, in a session: then it is taken.
  bool take_answer(const AgentMethods::CallerPtr& caller, const Head& head, std::string_view message);
  /// Nobody answers in it any more; see session_key().
  void session_ended(const std::string& session);
  /// What may be called has changed, or may have: clients are told, and asked no more what must not be asked.
  void capabilities_changed();
  /// Nothing is asked any more, and what waits for an answer is dropped.
  void end() {
    tasks_.end();
    questions_.end();
  }
  /// Of agents that are none any more.
  void end_tasks_without_agent();
  /// Of the operator's page on this machine; 0: there is none that clients are to lead to.
  void set_page_port(std::uint16_t port) { page_port_ = port; }
  /// Whoever waits for it in a task is told, and whoever was invited to decide about it, once it is decided.
  void write_changed(const WriteRecord& write);

  /// Whether the session that the head names is this agent's, began with a handshake and goes on; also where it names
  /// none and need not.
  enum class Names { kMay, kMust };
  bool goes_on(const Head& head, const std::string& agent_id, Names names = Names::kMay);
  /// Of the model with sessions: what the client is told without having asked, or the rest of the answer whose event it
  /// has heard last. Nothing: that answer is not kept any more.
  std::function<void(std::shared_ptr<ResponseStream>)> listen(const Head& head, const std::string& agent_id);
  /// How a call that came with that head is answered by events.
  std::shared_ptr<CallEvents> events_for(const Head& head, const std::string& agent_id);
  const std::shared_ptr<Streams>& streams() const { return streams_; }
  /// Streams and kept answers of clients that may hear no more; see Head::goes_on.
  void end_those_without_leave();

 private:
  struct Call;
  void run(Call& call);
  void initialize(const Call& call);
  std::string session_of(const Call& call);
  void begin_to_tell(const Call& call);
  void cancel(const Call& call);
  RpcOutcome discover(const Call& call) const;
  RpcOutcome list_tools(const Call& call);
  static RpcOutcome list_whole(const Call& call, std::string_view name, const std::function<std::string()>& list);
  void read_resource(Call& call);
  RpcOutcome list_prompts(const Call& call);
  RpcOutcome get_prompt(const Call& call);
  void complete(const Call& call);
  void call_tool(Call& call);
  void invoke(Call& call, Invocation invocation, const std::function<RpcOutcome(const InvocationResult&)>& outcome_of);
  void invite_meanwhile(const Call& call, const Invocation& invocation, CapabilityCallOptions& options);
  ResultForm form_of(const Call& call) const;
  static std::shared_ptr<CallChannel> channel_of(const Call& call, const std::function<void()>& give_up);
  SessionClient client_of(const Call& call) const;
  RpcOutcome set_log_level(const Call& call);
  void know_client(const std::string& agent_id, const std::string& session, std::string_view capabilities_json);
  static std::optional<RpcError> given_input(const Call& call, GivenInput& given);
  static std::optional<RpcError> given_answers(const JsonSpan* responses, ClientAnswers& answers);
  Knows knows() const;
  std::optional<Subscriptions::Watch> watch_of(const std::vector<Offered>& offered, std::string_view uri);
  void subscribe_resource(const Call& call);
  RpcOutcome listen_to(const Call& call);
  std::optional<RpcError> add_tasks(const Call& call, const JsonSpan& ids, Streams::Hears& hears);

  /// The port of the page to which its client can lead its user; 0: it cannot.
  std::uint16_t leads_to(const Call& call) const;
  InvitingWait::Parts inviting_parts() { return {api_, questions_, invitations_, *streams_}; }

  // Tasks; task_methods.cpp.
  void wait_for_write(const Call& call, Invocation invocation, const std::string& write_id);
  void ask_about_task(Call& call);
  void ask_about_read(const Call& call, const std::string& id);
  void ask_about_wait(const Call& call, const AwaitedWrite& wait);
  /// How the write stands, without waiting: what it waits for, in words; or, where nobody need wait any more, what the
  /// wait would be answered with.
  using Standing = std::variant<std::string, InvocationResult>;
  void look(const AgentMethods::CallerPtr& caller, Invocation wait, std::function<void(Standing)> done);
  /// The same as a task, which invites to the page of that port; an error where there is none of the agent.
  using WaitSeen = std::variant<TaskView, RpcError>;
  void look(const AgentMethods::CallerPtr& caller, const AwaitedWrite& wait, std::uint16_t page_port,
            const std::function<void(WaitSeen)>& done);
  void invite(const AgentMethods::CallerPtr& caller, TaskView task, const std::string& write_id,
              std::uint16_t page_port, const std::function<void(WaitSeen)>& done);
  void answer_invitation(const Call& call, const AwaitedWrite& wait, ClientAnswers answers);
  std::optional<TaskWatch> task_watch_of(const Call& call, const std::string& id);
  void tell_of(const std::shared_ptr<WaitWatches::One>& watched);

  AgentMethods& agents_;
  AgentApi& api_;
  const std::string labels_key_;
  Calls calls_;
  SessionClients clients_;
  ClientQuestions questions_;
  KeptAnswers kept_;
  const StateSeal seal_;
  Clock& clock_;
  Tasks tasks_;
  Invitations invitations_;
  std::atomic<std::uint16_t> page_port_{0};
  const std::shared_ptr<WaitWatches> wait_watches_ = std::make_shared<WaitWatches>();
  AgentMeters* const meters_;
  const std::shared_ptr<Streams> streams_ = std::make_shared<Streams>();
  const std::shared_ptr<Subscriptions> subscriptions_ = std::make_shared<Subscriptions>(
      [streams = streams_](const auto& session, const auto& uri) { return streams->resource_changed(session, uri); });
};

}  // namespace krux::mcp
