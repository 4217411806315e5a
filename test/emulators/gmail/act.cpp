#include <fmt/format.h>

#include <functional>

#include "emulators/common/documents.hpp"
#include "emulators/gmail/changing.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/control.hpp"
#include "emulators/gmail/seed.hpp"

namespace krux::test::gmail {
namespace {

struct Deed {
  State& state;
  const rapidjson::Value& document;
  Mailbox& mailbox;
  const Message* message;  // set where the action needs one
  JsonOut& out;
  std::string& problem;

  std::string text(const char* key) const { return text_or(document, key); }
  bool tell(const Message& made) {
    out.field("id", format_id(made.id)).field("threadId", format_id(made.thread_id));
    return true;
  }
  bool refuse(const std::string& why) { return problem = why, false; }
};

enum class Needs { nothing, message };

struct Action {
  const char* name;
  Needs needs;
  std::function<bool(Deed&)> run;  // false: problem says why
};

bool read_new(Deed& deed, NewMessage& into) {
  return read_message(deed.document, deed.mailbox, deed.state.clock.now_ms(), into, deed.problem);
}

NewMessage nothing_yet() {
  return {Content(std::string()), 0, {}, {}, {}};
}

bool deliver(Deed& deed) {
  NewMessage message = nothing_yet();
  return read_new(deed, message) && deed.tell(deed.mailbox.add(std::move(message)));
}

bool create_draft(Deed& deed) {
  NewMessage message = nothing_yet();
  if (!read_new(deed, message)) return false;
  const Draft& draft = deed.mailbox.add_draft(std::move(message));
  deed.out.field("draft", draft.id);
  return deed.tell(*deed.mailbox.find(draft.message));
}

const Draft* named_draft(Deed& deed) {
  const Draft* draft = deed.mailbox.draft(deed.text("draft"));
  if (!draft) deed.problem = "there is no such draft";
  return draft;
}

bool edit_draft(Deed& deed) {
  const Draft* draft = named_draft(deed);
  if (!draft) return false;
  NewMessage message = nothing_yet();
  if (!read_new(deed, message)) return false;
  if (!message.thread) message.thread = deed.mailbox.find(draft->message)->thread_id;
  if (!flag_or(deed.document, "rotate")) {
    deed.mailbox.replace_draft(draft->id, std::move(message));
    return deed.tell(*deed.mailbox.find(draft->message));
  }
  const std::string before = draft->id;
  const Draft& rotated = deed.mailbox.add_draft(std::move(message));
  deed.mailbox.erase_draft(before);
  deed.out.field("draft", rotated.id);
  return deed.tell(*deed.mailbox.find(rotated.message));
}

bool send_draft(Deed& deed) {
  const Draft* draft = named_draft(deed);
  if (!draft) return false;
  const Message& drafted = *deed.mailbox.find(draft->message);
  NewMessage message{drafted.content, deed.state.clock.now_ms(), {}, {"SENT"}, drafted.thread_id};
  const Message& sent = deed.mailbox.send_draft(draft->id, std::move(message));
  deed.mailbox.count_sent(sent);
  return deed.tell(sent);
}

bool delete_draft(Deed& deed) {
  const Draft* draft = named_draft(deed);
  if (draft) deed.mailbox.erase_draft(std::string(draft->id));
  return draft != nullptr;
}

bool change(Deed& deed, LabelChange change) {
  change = with_consequences(deed.state.behaviour, std::move(change));
  deed.mailbox.modify({deed.message->id}, change.add, change.remove);
  return deed.tell(*deed.message);
}

bool label(Deed& deed) {
  LabelChange wanted;
  for (const auto& [key, into] : {std::pair("add", &wanted.add), std::pair("remove", &wanted.remove)}) {
    const rapidjson::Value* list = find_member(deed.document, key);
    if (list && !list->IsArray()) return deed.refuse("add and remove are lists of label ids");
    if (!list) continue;
    for (const auto& item : list->GetArray()) {
      const std::string id = item.IsString() ? item.GetString() : "";
      if (!deed.mailbox.label(id)) return deed.refuse("there is no label '" + id + "'");
      into->push_back(id);
    }
  }
  return change(deed, wanted);
}

bool create_label(Deed& deed) {
  if (deed.text("name").empty()) return deed.refuse("a label has a name");
  const Label& made = deed.mailbox.add_label({deed.text("label"), deed.text("name"), false, "", ""});
  deed.out.field("label", made.id);
  return true;
}

bool rename_label(Deed& deed) {
  const Label* found = deed.mailbox.label(deed.text("label"));
  if (!found || found->is_system) return deed.refuse("there is no such label of the user's");
  Label renamed = *found;
  renamed.name = deed.text("name");
  deed.mailbox.change_label(renamed);
  return true;
}

bool delete_label(Deed& deed) {
  const Label* found = deed.mailbox.label(deed.text("label"));
  if (!found || found->is_system) return deed.refuse("there is no such label of the user's");
  deed.mailbox.erase_label(std::string(found->id));
  return true;
}

const std::vector<Action>& actions() {
  static const std::vector<Action> known = {
      {"deliver", Needs::nothing, deliver},
      {"mark_read", Needs::message,
       [](Deed& deed) {
         return change(deed, {{}, {"UNREAD"}});
       }},
      {"mark_unread", Needs::message,
       [](Deed& deed) {
         return change(deed, {{"UNREAD"}, {}});
       }},
      {"star", Needs::message,
       [](Deed& deed) {
         return change(deed, {{"STARRED"}, {}});
       }},
      {"unstar", Needs::message,
       [](Deed& deed) {
         return change(deed, {{}, {"STARRED"}});
       }},
      {"archive", Needs::message,
       [](Deed& deed) {
         return change(deed, {{}, {"INBOX"}});
       }},
      {"label", Needs::message, label},
      {"trash", Needs::message,
       [](Deed& deed) {
         return change(deed, {{"TRASH"}, {}});
       }},
      {"untrash", Needs::message,
       [](Deed& deed) {
         return change(deed, {{}, {"TRASH"}});
       }},
      {"delete", Needs::message, [](Deed& deed) { return deed.mailbox.erase({deed.message->id}), true; }},
      {"create_draft", Needs::nothing, create_draft},
      {"edit_draft", Needs::nothing, edit_draft},
      {"send_draft", Needs::nothing, send_draft},
      {"delete_draft", Needs::nothing, delete_draft},
      {"create_label", Needs::nothing, create_label},
      {"rename_label", Needs::nothing, rename_label},
      {"delete_label", Needs::nothing, delete_label},
      {"expire_history", Needs::nothing, [](Deed& deed) { return deed.mailbox.expire_history(), true; }},
      {"revoke_token", Needs::nothing,
       [](Deed& deed) {
         return deed.state.tokens.revoke(deed.text("token")) || deed.refuse("there is no such token");
       }},
      {"expire_tokens", Needs::nothing,
       [](Deed& deed) { return deed.state.tokens.expire_all(deed.state.clock.now_ms()), true; }},
      {"restore_tokens", Needs::nothing, [](Deed& deed) { return deed.state.tokens.restore_all(), true; }},
  };
  return known;
}

}  // namespace

bool act(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem) {
  std::vector<const char*> keys = message_keys();
  for (const char* key : {"action", "mailbox", "id", "draft", "label", "name", "add", "remove", "token", "rotate"})
    keys.push_back(key);
  if (!only_keys(document, keys, problem)) return false;
  Mailbox* mailbox = named_mailbox(state, document, problem);
  if (!mailbox) return false;
  for (const Action& action : actions()) {
    if (text_or(document, "action") != action.name) continue;
    Deed deed{state, document, *mailbox, nullptr, out, problem};
    if (action.needs == Needs::message) {
      const auto id = parse_id(text_or(document, "id"));
      deed.message = id ? mailbox->find(*id) : nullptr;
      if (!deed.message) return problem = "there is no message with that id", false;
    }
    return action.run(deed);
  }
  problem = fmt::format("there is no action '{}'", text_or(document, "action"));
  return false;
}

}  // namespace krux::test::gmail
