// Messages that the account's own writes have changed, each looked at by itself.
#include "sync.hpp"
#include "sync_step.hpp"

namespace slack {
namespace {

Params look_params(const Change& change, const std::string& thread) {
  // A page of a thread may hold its first message too, whatever the bounds.
  Params params{{"channel", change.channel},
                {"latest", change.ts},
                {"oldest", change.ts},
                {"inclusive", "true"},
                {"limit", thread.empty() ? "1" : "15"}};
  if (!thread.empty()) params.emplace_back("ts", thread);
  return params;
}

}  // namespace

std::optional<Message> Sync::known_message(Step& step, const std::string& channel, const std::string& ts) {
  const auto json = step.store.reader().get(kMessages, channel + "/" + ts);
  return json ? message_from_record(*json) : std::nullopt;
}

/// The first message of the thread that the changed message is a reply in; empty when it is none.
std::string Sync::thread_of(Step& step, const Change& change, const std::optional<Message>& known) {
  if (known) return known->is_reply() ? known->thread_ts : "";
  if (change.thread_ts.empty() || change.thread_ts == change.ts) return "";
  const auto answered = known_message(step, change.channel, change.thread_ts);
  return answered && answered->is_reply() ? answered->thread_ts : change.thread_ts;
}

/// What the replica does not have, nor the thread that it belongs to, is brought by the other streams or by none.
void Sync::change_look(Step& step) {
  const auto& change = *step.change;
  const auto known = known_message(step, change.channel, change.ts);
  const auto thread = thread_of(step, change, known);
  const auto parent = thread.empty() ? std::nullopt : known_message(step, change.channel, thread);
  if (known || parent) {
    try {
      const auto method = thread.empty() ? "conversations.history" : "conversations.replies";
      change_answer(step, known, parent, ask(step, method, look_params(change, thread)));
    } catch (const SlackError& error) {
      if (error.name() != "thread_not_found" && error.name() != "message_not_found") throw;
      change_is_gone(step, known);
    }
    commit(step);
  }
  changes_.settled(change);
}

void Sync::change_answer(Step& step, const std::optional<Message>& known, const std::optional<Message>& parent,
                         const Answer& answer) {
  const auto& change = *step.change;
  ChannelState look;
  look.look = Look::kNew;
  look.generation = step.pass.next_generation++;
  bool seen = false;
  for (const auto& json : items_of(answer, "messages", "the message " + change.ts).GetArray()) {
    auto message = message_from_slack(json, change.channel);
    if (!message) continue;
    const bool is_it = message->ts == change.ts;
    // With another number of replies it is put into the queue, and the whole thread is fetched.
    if (is_it || (parent && message->ts == parent->ts)) put_message(step, std::move(*message), look);
    seen = seen || is_it;
  }
  if (seen) return;
  if (!paging_of(answer, "").whole()) {
    throw SlackError(kruxos::ErrorKind::kUnavailable, "Slack does not show whether the message is there.", "");
  }
  change_is_gone(step, known);
}

void Sync::change_is_gone(Step& step, std::optional<Message> known) {
  if (!known) return;
  if (!known->has_replies()) return step.store.erase(kMessages, known->id());
  known->replies_pending = true;  // the look at the thread clears them away with it
  step.store.put(message_record(*known, step.pass.next_generation++));
}

/// Other than by a limit, which the stream waits for.
void Sync::give_up_change(Step& step, const kruxos::ProxyError& error) {
  const auto& change = *step.change;
  host_.log(KRUX_LOG_WARN, "The message " + change.channel + "/" + change.ts +
                               ", which a write has changed, could not be looked at: " + error.what());
  if (is_no_answer(error.kind())) {
    changes_.put_off(change, step.pass.number);
  } else {
    changes_.settled(change);
  }
}

}  // namespace slack
