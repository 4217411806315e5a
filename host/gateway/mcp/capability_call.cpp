#include "host/gateway/mcp/capability_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/asks.hpp"
#include "host/gateway/mcp/client_abilities.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {
namespace {

constexpr std::string_view kTakenBack = "The call was taken back.";

std::string log_message(std::string_view level, std::string_view logger, std::string_view text) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{}","logger":{},"data":{}}}}})", level,
      json_string(logger), json_string(text));
}

std::string in_words(const ReadProgress& how_far) {
  if (!how_far.message.empty()) return std::string(how_far.message);
  if (how_far.total > 0) return fmt::format("{} of {} are done.", how_far.done, how_far.total);
  return fmt::format("{} are done.", how_far.done);
}

/// Without the braces around it.
std::string members_of(const Question& question, std::string_view asked_by) {
  const auto object = json_object([&](JsonWriter& out) { put_request(out, question, asked_by, Model::kWithSessions); });
  return object.substr(1, object.size() - 2);
}

}  // namespace

CapabilityCall::CapabilityCall(const CallParts& parts, CapabilityCallOptions options)
    : parts_(parts), options_(std::move(options)), given_(std::move(options_.given.responses)) {}

CallName CapabilityCall::name() const {
  return {options_.caller->agent.agent_id, options_.invocation.capability, options_.invocation.arguments_json};
}

void CapabilityCall::begin() {
  if (options_.may_be_task)
    parts_.tasks.when_late([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->become_task();
    });
  if (options_.invites) return begin_inviting();
  const auto& sealed = options_.given.request_state;
  if (!sealed) return invoke({}, {});
  try {
    auto before = parts_.seal.open(name(), *sealed);
    round_ = before.round;
    if (before.questions_json.empty()) return invoke({}, {});  // of an invitation, which is none any more
    Questions questions;
    questions.all = parse_questions(before.questions_json);
    questions.questions_json = std::move(before.questions_json);
    questions.state = std::move(before.state);
    questions.account = std::move(before.account);
    questions.missing = questions.kinds() & ~options_.can_ask;
    if (take_given(questions)) return;
    if (const auto why = why_not_ask(questions)) return fail(*why);
    --round_;  // the same is asked once more
    ask_by_result(questions, before.until_boot_ms);
  } catch (const Error& error) {
    refuse({rpc_code::kInvalidParams, error.what(), {}}, kBadRequest);
  }
}

void CapabilityCall::invoke(std::string answers_json, const Questions& answered) {
  auto invocation = options_.invocation;
  invocation.dialogue = dialogue(std::move(answers_json), answered);
  const auto refused =
      parts_.agents.call(options_.caller, std::move(invocation),
                         [self = shared_from_this()](const InvocationResult& done) { self->take(done); });
  if (refused) fail(*refused);
}

std::shared_ptr<const ReadDialogue> CapabilityCall::dialogue(std::string answers_json, const Questions& answered) {
  ReadDialogue dialogue;
  dialogue.can_ask = options_.can_ask;
  dialogue.answers_json = std::move(answers_json);
  dialogue.state = answered.state;
  dialogue.account = answered.account;
  if (options_.progress || options_.may_be_task)
    dialogue.progress = [progress = options_.progress, weak = weak_from_this()](const ReadProgress& how_far) {
      if (progress) progress->at(how_far);
      if (const auto self = weak.lock()) self->say(in_words(how_far));
    };
  if (options_.channel->reaches() && options_.log_level != kHearsNothing)
    dialogue.tell = [channel = options_.channel, least = options_.log_level, logger = options_.logger](
                        std::int32_t level, std::string_view text) {
      if (level >= least) channel->send(log_message(log_level_name(level), logger, text));
    };
  return std::make_shared<const ReadDialogue>(std::move(dialogue));
}

void CapabilityCall::take(const InvocationResult& result) {
  if (options_.invocation.is_given_up()) return;
  if (!result.questions) return answer(result);
  ask(*result.questions, result);
}

void CapabilityCall::ask(const Questions& questions, const InvocationResult& result) {
  if (round_ >= kMostRounds)
    return fail({ErrorCode::kServiceUnavailable,
                 fmt::format("{} has asked {} times and wants to ask again, which is no end. This is a defect of the "
                             "adapter; tell the operator.",
                             options_.invocation.capability, kMostRounds)});
  try {
    if (!given_.empty() && questions.missing == 0 && take_given(questions)) return;
  } catch (const Error& error) {
    return refuse({rpc_code::kInvalidParams, error.what(), {}}, kBadRequest);
  }
  if (options_.model == Model::kStateless) return ask_by_result(questions);
  if (questions.missing != 0 || !options_.channel->reaches()) return answer(result);
  ask_client(questions);
}

std::optional<Error> CapabilityCall::why_not_ask(const Questions& questions) const {
  auto invocation = options_.invocation;
  invocation.agent_id = options_.caller->agent.agent_id;
  invocation.agent_name = options_.caller->agent.name;
  return parts_.api.why_not_ask(invocation, questions);
}

/// What the client has sent along may answer what is asked. Throws krux::Error: it does not fit.
bool CapabilityCall::take_given(const Questions& questions) {
  auto answers = answers_json(questions, std::exchange(given_, {}));
  if (answers.empty()) return false;
  invoke(std::move(answers), questions);
  return true;
}

void CapabilityCall::ask_by_result(const Questions& questions, std::int64_t until_boot_ms) {
  if (questions.missing != 0)
    return refuse({kMissingCapability,
                   fmt::format("{} must ask for what the client has not declared that it can answer: {}.",
                               tool_name(options_.invocation.capability), asks_in_words(questions.missing)),
                   R"({"requiredCapabilities":)" + capabilities_for(questions.missing) + "}"},
                  kBadRequest);
  const auto reply = take_reply();
  if (!reply) return ask_in_task(questions);
  Keyed by_name;
  for (const auto& question : questions.all) by_name.emplace_back(question.name, question);
  const auto sealed = parts_.seal.seal(
      name(), {questions.questions_json, questions.state, questions.account, round_ + 1, until_boot_ms});
  reply_with(reply, json_object([&](JsonWriter& out) {
               put_result_frame(out, "input_required");
               put_raw(out, "inputRequests", requests_json(by_name));
               put(out, "requestState", sealed);
             }));
}

std::string CapabilityCall::requests_json(const Keyed& questions) const {
  return json_object([&](JsonWriter& out) {
    for (const auto& [key, question] : questions) {
      put_key(out, key);
      out.StartObject();
      put_request(out, question, options_.logger, Model::kStateless);
      out.EndObject();
    }
  });
}

void CapabilityCall::ask_client(const Questions& questions) {
  ++round_;
  ClientQuestions::Asked asked;
  asked.agent_id = options_.caller->agent.agent_id;
  asked.session = options_.session;
  for (const auto& question : questions.all)
    asked.requests.push_back({question.name, members_of(question, options_.logger)});
  asked.send = [channel = options_.channel](std::string_view message) { return channel->send(message); };
  asked.why_not = [self = shared_from_this(), questions] { return self->why_not_ask(questions); };
  asked.done = [self = shared_from_this(), questions](const std::variant<ClientAnswers, Error>& outcome) {
    if (const auto* error = std::get_if<Error>(&outcome)) return self->fail(*error);
    self->go_on(questions, std::get<ClientAnswers>(outcome));
  };
  const auto number = parts_.questions.ask(std::move(asked));
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    asked_ = std::max(asked_, number);  // an answer that came at once may have led to a later question
    late = given_up_;
  }
  if (late) parts_.questions.drop(number, kTakenBack);
}

void CapabilityCall::go_on(const Questions& questions, const ClientAnswers& answers) {
  std::string all;
  try {
    all = answers_json(questions, answers);
  } catch (const Error& error) {
    return fail(error);
  }
  invoke(std::move(all), questions);
}

void CapabilityCall::give_up() {
  {
    const std::lock_guard lock(mutex_);
    if (!task_.empty()) return;
    given_up_ = true;
  }
  end_work();
}

void CapabilityCall::end_work() {
  ClientQuestions::Number asked = 0;
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    asked = asked_;
  }
  options_.invocation.cancellation->cancel();
  parts_.questions.drop(asked, kTakenBack);
  finish(RpcSilence{});
}

void CapabilityCall::finish(RpcOutcome outcome, int status) {
  if (options_.inviting) options_.inviting->end();
  if (const auto reply = take_reply()) return reply_with(reply, std::move(outcome), status);
  end_task(std::move(outcome));
}

RpcReply CapabilityCall::take_reply() {
  const std::lock_guard lock(mutex_);
  return std::exchange(options_.reply, nullptr);
}

void CapabilityCall::reply_with(const RpcReply& reply, RpcOutcome outcome, int status) {
  options_.channel->close();
  options_.set_status(status);
  reply(std::move(outcome));
}

}  // namespace krux::mcp
