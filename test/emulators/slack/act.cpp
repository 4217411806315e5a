#include <fmt/format.h>

#include <functional>

#include "emulators/common/documents.hpp"
#include "emulators/slack/control.hpp"
#include "emulators/slack/draft.hpp"

namespace krux::test::slack {
namespace {

struct Deed {
  State& state;
  const rapidjson::Value& document;
  Channel* channel;  // set where the action needs one
  Message* message;  // likewise
  JsonOut& out;

  std::string text(const char* key) const { return text_or(document, key); }
  Ts now_ts() const { return number_or(document, "at_ms", state.clock.now_ms()) * 1000; }
};

enum class Needs { nothing, channel, message };

struct Action {
  const char* name;
  Needs needs;
  std::function<bool(Deed&)> run;  // false: a token or the like that does not exist
};

bool post(Deed& deed) {
  Draft draft = read_draft(*deed.state.workspace, deed.document, "U0PERSON001");
  if (const auto thread = parse_ts(deed.text("thread_ts"))) draft.thread_ts = *thread;
  const Message& posted = deed.state.workspace->post(*deed.channel, std::move(draft), deed.now_ts());
  deed.out.field("ts", format_ts(posted.ts));
  return true;
}

const std::vector<Action>& actions() {
  static const std::vector<Action> known = {
      {"post", Needs::channel, post},
      {"edit", Needs::message,
       [](Deed& deed) {
         const std::string user = text_or(deed.document, "user", deed.message->user);
         deed.state.workspace->edit(*deed.message, deed.text("text"), user, deed.now_ts());
         return true;
       }},
      {"delete", Needs::message,
       [](Deed& deed) {
         deed.state.workspace->erase(*deed.channel, deed.message->ts);
         return true;
       }},
      {"react", Needs::message,
       [](Deed& deed) { return deed.state.workspace->react(*deed.message, deed.text("name"), deed.text("user")); }},
      {"unreact", Needs::message,
       [](Deed& deed) { return deed.state.workspace->unreact(*deed.message, deed.text("name"), deed.text("user")); }},
      {"rename", Needs::channel, [](Deed& deed) { return deed.channel->info.name = deed.text("name"), true; }},
      {"set_topic", Needs::channel, [](Deed& deed) { return deed.channel->info.topic = deed.text("text"), true; }},
      {"archive", Needs::channel, [](Deed& deed) { return deed.channel->info.is_archived = true; }},
      {"unarchive", Needs::channel, [](Deed& deed) { return !(deed.channel->info.is_archived = false); }},
      {"invite_bot", Needs::channel, [](Deed& deed) { return deed.channel->info.is_member = true; }},
      {"remove_bot", Needs::channel, [](Deed& deed) { return !(deed.channel->info.is_member = false); }},
      {"revoke_token", Needs::nothing,
       [](Deed& deed) { return deed.state.tokens.revoke(deed.text("token"), deed.text("error")); }},
      {"restore_tokens", Needs::nothing, [](Deed& deed) { return deed.state.tokens.restore_all(), true; }},
  };
  return known;
}

}  // namespace

bool act(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem) {
  std::vector<const char*> keys = {"action", "channel", "ts", "thread_ts", "at_ms", "name", "token", "error"};
  keys.insert(keys.end(), draft_keys().begin(), draft_keys().end());
  if (!only_keys(document, keys, problem)) return false;
  for (const Action& action : actions()) {
    if (text_or(document, "action") != action.name) continue;
    Deed deed{state, document, nullptr, nullptr, out};
    if (action.needs != Needs::nothing) deed.channel = state.workspace->channel(text_or(document, "channel"));
    if (action.needs != Needs::nothing && !deed.channel) return problem = "there is no such channel", false;
    if (action.needs == Needs::message) {
      const auto ts = parse_ts(text_or(document, "ts"));
      deed.message = ts ? deed.channel->find(*ts) : nullptr;
      if (!deed.message) return problem = "there is no message with that ts", false;
    }
    if (!action.run(deed)) return problem = fmt::format("{}: nothing to do it to", action.name), false;
    return true;
  }
  problem = fmt::format("there is no action '{}'", text_or(document, "action"));
  return false;
}

}  // namespace krux::test::slack
