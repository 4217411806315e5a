// A call that goes on as a task.
#include <fmt/format.h>

#include <algorithm>

#include "core/definition/asks.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/gateway/mcp/capability_call.hpp"

namespace krux::mcp {

/// It is its task's from then on.
void CapabilityCall::become_task() {
  RpcReply reply;
  std::string created;
  {
    const std::lock_guard lock(mutex_);
    if (given_up_ || !options_.reply) return;
    const auto task = parts_.tasks.add(options_.caller->agent.agent_id, shared_from_this(),
                                       options_.invocation.arguments_json.size(), said_);
    if (!task) return;
    task_ = task->id;
    created = created_task(*task);
    reply = std::exchange(options_.reply, nullptr);
  }
  reply_with(reply, std::move(created));
}

void CapabilityCall::end_task(RpcOutcome outcome) {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    id = task_;
  }
  if (!id.empty()) parts_.tasks.end(id, std::move(outcome));
}

/// What is said and asked reaches the task in this order: under the lock.
void CapabilityCall::say(std::string_view how_far) {
  const std::lock_guard lock(mutex_);
  said_ = printable(how_far);
  if (!task_.empty()) parts_.tasks.tell(task_, said_);
}

/// A key never comes twice in a task's life.
void CapabilityCall::ask_in_task(const Questions& questions) {
  if (const auto why = why_not_ask(questions)) return fail(*why);
  const std::lock_guard lock(mutex_);
  if (task_.empty()) return;
  ++round_;
  all_asked_ = questions;
  for (const auto& question : questions.all) open_.emplace_back(fmt::format("{}.{}", round_, question.name), question);
  parts_.tasks.ask(task_, requests_json(open_));
}

void CapabilityCall::look_again() {
  Questions asked;
  {
    const std::lock_guard lock(mutex_);
    if (open_.empty()) return;
    asked = all_asked_;
  }
  if (const auto why = why_not_ask(asked)) fail(*why);
}

void CapabilityCall::take_answers(const ClientAnswers& answers) {
  Questions asked;
  ClientAnswers all;
  {
    const std::lock_guard lock(mutex_);
    Keyed left;
    auto taken = answers_;
    for (auto& [key, question] : open_) {
      const auto given = answers.find(key);
      if (given == answers.end()) {
        left.emplace_back(key, question);
      } else {
        answer_json(question, given->second);  // throws where it does not fit
        taken.emplace(question.name, given->second);
      }
    }
    if (given_up_ || left.size() == open_.size()) return;
    std::size_t bytes = 0;
    for (const auto& [name, json] : taken) bytes += json.size();
    if (bytes >= kLargestAnswers) throw invalid_input(too_much_answered());
    open_ = std::move(left);
    answers_ = std::move(taken);
    parts_.tasks.ask(task_, open_.empty() ? std::string() : requests_json(open_));
    if (!open_.empty()) return;
    asked = std::exchange(all_asked_, {});
    all = std::exchange(answers_, {});
  }
  go_on(asked, all);
}

}  // namespace krux::mcp
