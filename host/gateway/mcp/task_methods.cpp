// The methods of tasks, and waits for writes that go on as one.
#include <atomic>

#include "core/util/error.hpp"
#include "core/write/write.hpp"
#include "host/gateway/mcp/client_abilities.hpp"
#include "host/gateway/mcp/method_call.hpp"

namespace krux::mcp {
namespace {

RpcError no_such_task() {
  return invalid_params(
      "There is no such task of this agent. A read's is kept for an hour, a minute once its result was fetched, and "
      "until the host stops: call the tool again. A write is in proxy__list_writes.");
}

std::string acknowledged() {
  return json_object([](JsonWriter& out) { put_result_frame(out); });
}

/// The write that was waited for is not there; all else is no answer to whether it is.
RpcError why_not_seen(const std::string& error_json) {
  const auto error = parse_json(error_json, "The error", {1 << 20, 32});
  const auto type = ErrorType::named(find_string(error, "type").value_or("")).code();
  if (type == ErrorCode::kInvalidInput) return no_such_task();
  return {type == ErrorCode::kRateLimited ? rpc_code::kRateLimit : rpc_code::kInternal,
          std::string(find_string(error, "message").value_or("")), error_json};
}

}  // namespace

RpcError needs_tasks() {
  return {kMissingCapability,
          fmt::format("The request must declare the extension {} in its clientCapabilities.", kTasksExtension),
          fmt::format(R"({{"requiredCapabilities":{{"extensions":{{"{}":{{}}}}}}}})", kTasksExtension)};
}

/// That it begins to wait says that the write is there and goes on: nobody has to wait for more.
void Methods::look(const AgentMethods::CallerPtr& caller, Invocation wait, std::function<void(Standing)> done) {
  const auto once = std::make_shared<std::function<void(Standing)>>(std::move(done));
  const auto told = std::make_shared<std::atomic<bool>>(false);
  const auto cancellation = std::make_shared<Cancellation>();
  const auto tell = [once, told](Standing standing) {
    if (!told->exchange(true)) (*once)(std::move(standing));
  };
  wait.for_model = true;
  wait.cancellation = cancellation;
  wait.progress = [tell, cancellation](std::string_view words) {
    cancellation->cancel();
    tell(std::string(words));
  };
  const auto refused = agents_.call(caller, std::move(wait), [tell](const InvocationResult& result) { tell(result); });
  if (refused) tell(InvocationResult{false, {}, error_json(*refused, nullptr)});
}

void Methods::look(const AgentMethods::CallerPtr& caller, const AwaitedWrite& wait, std::uint16_t page_port,
                   const std::function<void(WaitSeen)>& done) {
  Invocation invocation;
  invocation.capability = kWriteStatus;
  invocation.arguments_json = fmt::format(R"({{"write_id":"{}","wait_seconds":1}})", wait.write_id);
  look(caller, std::move(invocation),
       [this, caller, wait, page_port, done, form = ResultForm{true, labels_key_, knows()}](Standing standing) {
         const auto* result = std::get_if<InvocationResult>(&standing);
         if (result && !result->success) return done(why_not_seen(result->error_json));
         auto task = waiting_task(wait, result ? "" : std::get<std::string>(standing), clock_.wall_ms());
         if (!result) return invite(caller, std::move(task), wait.write_id, page_port, done);
         end_with(task, tool_result(*result, form));
         task.updated_ms = clock_.wall_ms();
         done(std::move(task));
       });
}

/// Where its client can lead its user to the page, until it has answered.
void Methods::invite(const AgentMethods::CallerPtr& caller, TaskView task, const std::string& write_id,
                     std::uint16_t page_port, const std::function<void(WaitSeen)>& done) {
  if (page_port == 0) return done(std::move(task));
  api_.asked_approval(caller->agent.agent_id, write_id,
                      [this, caller, task, page_port, done](const AskedOutcome& outcome) {
                        auto inviting = task;
                        const auto approval = approval_in(outcome);
                        if (approval && invitations_.is_open({caller->agent.agent_id, {}}, *approval)) {
                          inviting.status = TaskStatus::kInputRequired;
                          inviting.inlined_json = Invitation{*approval, caller->agent.name, page_port}.input_requests();
                        }
                        done(std::move(inviting));
                      });
}

/// The tool's result where the write has ended, else a task.
void Methods::wait_for_write(const Call& call, Invocation invocation, const std::string& write_id) {
  const AwaitedWrite wait{write_id, clock_.wall_ms()};
  look(call.caller, std::move(invocation), [reply = call.reply, form = form_of(call), wait](Standing standing) {
    if (const auto* result = std::get_if<InvocationResult>(&standing)) return reply(tool_result(*result, form));
    reply(created_task(waiting_task(wait, std::get<std::string>(standing), wait.begun_ms)));
  });
}

void Methods::ask_about_task(Call& call) {
  if (!call.knows_tasks()) return call.refuse(400, needs_tasks());
  const auto* id = find(call.params, "taskId", JsonKind::kString);
  if (!id) return call.reply(invalid_params("\"taskId\" is missing, as the task's result named it."));
  const auto wait = awaited_by(id->text);
  wait ? ask_about_wait(call, *wait) : ask_about_read(call, id->text);
}

void Methods::ask_about_read(const Call& call, const std::string& id) {
  const auto& agent_id = call.caller->agent.agent_id;
  if (call.method == "tasks/get") {
    const auto task = tasks_.get(agent_id, id);
    return call.reply(task ? RpcOutcome(task_result(*task)) : no_such_task());
  }
  bool is_there = false;
  if (call.method == "tasks/cancel") {
    is_there = tasks_.cancel(agent_id, id);
  } else {
    ClientAnswers answers;
    if (auto why = given_answers(call.params.find("inputResponses"), answers)) return call.reply(*std::move(why));
    try {
      is_there = tasks_.update(agent_id, id, answers);
    } catch (const Error& error) {
      return call.reply(invalid_params(error.what()));
    }
  }
  call.reply(is_there ? RpcOutcome(acknowledged()) : no_such_task());
}

/// Nothing of it can be ended, and what is answered to it ends an invitation alone.
void Methods::ask_about_wait(const Call& call, const AwaitedWrite& wait) {
  const auto* responses = call.method == "tasks/update" ? call.params.find("inputResponses") : nullptr;
  ClientAnswers answers;
  if (auto why = responses ? given_answers(responses, answers) : std::nullopt) return call.reply(*std::move(why));
  if (!answers.empty()) return answer_invitation(call, wait, std::move(answers));
  look(call.caller, wait, leads_to(call), [reply = call.reply, gets = call.method == "tasks/get"](WaitSeen seen) {
    if (auto* why = std::get_if<RpcError>(&seen)) return reply(std::move(*why));
    reply(gets ? task_result(std::get<TaskView>(seen)) : acknowledged());
  });
}

/// Whatever it says: the page alone decides.
void Methods::answer_invitation(const Call& call, const AwaitedWrite& wait, ClientAnswers answers) {
  const auto& caller = call.caller;
  api_.asked_approval(
      caller->agent.agent_id, wait.write_id,
      [this, caller, wait, answers = std::move(answers), reply = call.reply](const AskedOutcome& outcome) {
        const auto approval = approval_in(outcome);
        const auto& agent_id = caller->agent.agent_id;
        const auto given = approval ? answers.find(Invitation{*approval, {}, 0}.key()) : answers.end();
        if (given != answers.end()) {
          try {
            Invitation{*approval, {}, 0}.check_answer(given->second);
          } catch (const Error& error) {
            return reply(invalid_params(error.what()));
          }
          invitations_.answered({agent_id, {}}, *approval);
          for (const auto& watched : wait_watches_->of(wait.write_id, agent_id)) tell_of(watched);
        }
        look(caller, wait, 0, [reply](WaitSeen seen) {
          auto* why = std::get_if<RpcError>(&seen);
          reply(why ? RpcOutcome(std::move(*why)) : acknowledged());
        });
      });
}

std::optional<TaskWatch> Methods::task_watch_of(const Call& call, const std::string& id) {
  const auto& caller = call.caller;
  if (const auto wait = awaited_by(id))
    return [this, caller, wait = *wait,
            page_port = leads_to(call)](std::function<void(const TaskView&)> tell) -> std::shared_ptr<void> {
      auto watched = std::make_shared<WaitWatches::One>(caller, wait, page_port, std::move(tell));
      wait_watches_->add(watched);
      tell_of(watched);
      return watched;
    };
  const auto& agent_id = caller->agent.agent_id;
  if (!tasks_.is_there(agent_id, id)) return std::nullopt;
  return [&tasks = tasks_, agent_id, id](std::function<void(const TaskView&)> tell) {
    return tasks.watch(agent_id, id, std::move(tell));
  };
}

/// In a turn of the agent's, since nobody of it has asked just now. What cannot be seen now is looked at once more.
void Methods::tell_of(const std::shared_ptr<WaitWatches::One>& watched) {
  const auto again = [this, weak = std::weak_ptr(watched)] {
    tasks_.when_late([this, weak] {
      if (const auto still = weak.lock()) tell_of(still);
    });
  };
  const auto seen = [watched, again](WaitSeen standing) {
    if (const auto* task = std::get_if<TaskView>(&standing)) return watched->tell(*task);
    if (std::get<RpcError>(standing).code != rpc_code::kInvalidParams) again();
  };
  api_.in_turn(
      watched->caller->agent.agent_id,
      [this, watched, seen] { look(watched->caller, watched->wait, watched->page_port, seen); },
      [again](const Error&) { again(); }, RunsOn::kWorker);
}

void Methods::write_changed(const WriteRecord& write) {
  if (write.state != WriteState::kPendingApproval)
    InvitingWait::decided(inviting_parts(), write.agent_id, write.write_id);
  for (const auto& watched : wait_watches_->of(write.write_id, write.agent_id)) tell_of(watched);
}

void Methods::end_tasks_without_agent() {
  tasks_.end_those_without([this](const std::string& agent_id) { return api_.active(agent_id).has_value(); });
}

}  // namespace krux::mcp
