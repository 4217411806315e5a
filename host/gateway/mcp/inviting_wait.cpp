#include "host/gateway/mcp/inviting_wait.hpp"

#include <utility>

#include "core/util/json_out.hpp"

namespace krux::mcp {

void InvitingWait::look() {
  parts_.api.asked_approval(options_.agent.agent_id, options_.write_id,
                            [weak = weak_from_this()](const AskedOutcome& outcome) {
                              const auto self = weak.lock();
                              if (const auto approval = approval_in(outcome); self && approval) self->ask(*approval);
                            });
}

void InvitingWait::ask(const AskedApproval& approval) {
  Invitations::Way way;
  way.send = [channel = std::weak_ptr(options_.channel)](std::string_view message) {
    const auto to = channel.lock();
    return to && to->send(message);
  };
  way.withdraw = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->withdraw("It is decided.");
  };
  const auto& agent_id = options_.agent.agent_id;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
  }
  const auto id = parts_.invitations.begin({agent_id, options_.session}, approval, std::move(way));
  if (!id) return;
  const Invitation invitation{approval, options_.agent.name, options_.page_port};
  const auto request = json_object([&](JsonWriter& out) { invitation.put_request(out, *id); });
  ClientQuestions::Asked asked;
  asked.agent_id = agent_id;
  asked.session = options_.session;
  asked.requests.push_back({invitation.key(), request.substr(1, request.size() - 2)});
  asked.send = [channel = options_.channel](std::string_view message) { return channel->send(message); };
  asked.why_not = [] { return std::nullopt; };
  asked.done = [&invitations = parts_.invitations, agent_id,
                id = *id](const std::variant<ClientAnswers, Error>& outcome) {
    std::holds_alternative<Error>(outcome) ? invitations.dropped(agent_id, id) : invitations.answered(agent_id, id);
  };
  const auto number = parts_.questions.ask(std::move(asked));
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    question_ = number;
    elicitation_id_ = *id;
    late = ended_;
  }
  if (late) return end();
  // It may have been decided while nobody knew yet whom to tell. Where that cannot be seen, it was not.
  parts_.api.asked_approval(agent_id, approval.write_id,
                            [self = shared_from_this(), write_id = approval.write_id](const AskedOutcome& outcome) {
                              const auto* still = std::get_if<std::optional<AskedApproval>>(&outcome);
                              if (!still || *still) return;
                              decided(self->parts_, self->options_.agent.agent_id, write_id);
                              self->withdraw("It is decided.");
                            });
}

void InvitingWait::end() {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    id = elicitation_id_;
  }
  withdraw("Nobody waits for it any more.");
  if (!id.empty()) parts_.invitations.dropped(options_.agent.agent_id, id);
}

void InvitingWait::withdraw(std::string_view why) {
  ClientQuestions::Number question = 0;
  {
    const std::lock_guard lock(mutex_);
    question = std::exchange(question_, 0);
  }
  if (question != 0) parts_.questions.drop(question, why);
}

void InvitingWait::decided(const Parts& parts, const std::string& agent_id, const std::string& write_id) {
  for (const auto& one : parts.invitations.decided(agent_id, write_id)) {
    const auto message = invitation_over(one.elicitation_id);
    if (!one.way.send(message)) parts.streams.tell(one.session, message);
    if (!one.is_answered) one.way.withdraw();
  }
}

}  // namespace krux::mcp
