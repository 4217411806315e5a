#include "emulators/gmail/control.hpp"

#include <fmt/format.h>

#include "emulators/common/documents.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/render.hpp"
#include "emulators/gmail/seed.hpp"

namespace krux::test::gmail {

ControlPlane::Outcome Control::get_own(const std::string& what, const std::map<std::string, std::string>& query,
                                       JsonOut& out, std::string& problem) {
  if (what == "state") {
    write_state(out);
  } else if (what == "methods") {
    write_methods(out);
  } else if (what == "oauth") {
    state_.oauth.write(out);
  } else if (what == "messages") {
    auto wanted = query.find("mailbox");
    const auto& mailboxes = state_.mailboxes();
    const auto mailbox = mailboxes.find(lower(wanted == query.end() ? state_.settings.address : wanted->second));
    if (mailbox == mailboxes.end()) return problem = "there is no such mailbox", Outcome::refused;
    out.array("messages");
    for (const auto& [order, message] : mailbox->second->newest_first()) {
      out.object();
      render_reference(*message, out, true);
      const Draft* draft = mailbox->second->draft_of(message->id);
      if (draft) out.field("draftId", draft->id);
      const Digest digest = message->content.digest();
      out.field("from", digest.from).field("to", digest.to).field("cc", digest.cc).field("bcc", digest.bcc);
      out.field("subject", digest.subject).field("messageId", digest.message_id).field("text", digest.text);
      out.field("marker", marker_of(*message->content.raw())).end_object();
    }
    out.end_array();
  } else {
    return Outcome::unknown;
  }
  return Outcome::done;
}

ControlPlane::Outcome Control::post_own(const std::string& what, const rapidjson::Value& document, JsonOut& out,
                                        std::string& problem) {
  bool done = false;
  if (what == "seed") {
    done = seed(state_, document, out, problem);
  } else if (what == "act") {
    done = act(state_, document, out, problem);
  } else if (what == "quota") {
    done = set_quota(document, problem);
  } else if (what == "behaviour") {
    done = set_behaviour(document, problem);
  } else if (what == "oauth") {
    done = state_.oauth.act(document, out, problem);
  } else {
    return Outcome::unknown;
  }
  return done ? Outcome::done : Outcome::refused;
}

bool Control::set_quota(const rapidjson::Value& document, std::string& problem) {
  if (!only_keys(document, {"units_per_minute", "costs"}, problem)) return false;
  const rapidjson::Value* units = find_member(document, "units_per_minute");
  if (units && !units->IsInt64()) return problem = "units_per_minute is a whole number", false;
  const rapidjson::Value* costs = find_member(document, "costs");
  if (costs && !costs->IsObject()) return problem = "costs is an object of units by method", false;
  if (costs) {
    for (const auto& entry : costs->GetObject()) {
      const bool fits = find_method(entry.name.GetString()) && entry.value.IsInt64();
      if (!fits) return problem = "a cost is a whole number for a method that exists", false;
      state_.quota.costs[entry.name.GetString()] = entry.value.GetInt64();
    }
  }
  if (units) state_.quota.units_per_minute = units->GetInt64();
  return true;
}

bool Control::set_behaviour(const rapidjson::Value& document, std::string& problem) {
  if (!only_keys(document,
                 {"quota_answer", "quota_retry_after", "message_id", "trash_leaves_inbox", "one_place",
                  "history_empty_page", "header_values", "inline_text_max"},
                 problem)) {
    return false;
  }
  Behaviour& behaviour = state_.behaviour;
  const std::string answer = text_or(document, "quota_answer", behaviour.quota_answer);
  if (answer != "403_user" && answer != "403_rate" && answer != "429") {
    return problem = "quota_answer is 403_user, 403_rate or 429", false;
  }
  const std::string message_id = text_or(document, "message_id", behaviour.message_id);
  if (message_id != "replace" && message_id != "replace_and_keep" && message_id != "replace_invalid") {
    return problem = "message_id is replace, replace_and_keep or replace_invalid", false;
  }
  const std::string values = text_or(document, "header_values", behaviour.header_values);
  if (values != "decoded" && values != "raw") return problem = "header_values is decoded or raw", false;
  behaviour.header_values = values;
  behaviour.quota_answer = answer;
  behaviour.message_id = message_id;
  behaviour.quota_retry_after = flag_or(document, "quota_retry_after", behaviour.quota_retry_after);
  behaviour.trash_leaves_inbox = flag_or(document, "trash_leaves_inbox", behaviour.trash_leaves_inbox);
  behaviour.one_place = flag_or(document, "one_place", behaviour.one_place);
  behaviour.history_empty_page = flag_or(document, "history_empty_page", behaviour.history_empty_page);
  behaviour.inline_text_max = static_cast<int>(number_or(document, "inline_text_max", behaviour.inline_text_max));
  return true;
}

void Control::write_mailbox(const Mailbox& mailbox, const Quota& quota, JsonOut& out) {
  const Effects& effects = mailbox.effects;
  const std::string key = lower(mailbox.address());
  out.object(key).field("messages", mailbox.size()).field("threads", mailbox.threads().size());
  out.field("drafts", mailbox.drafts().size()).field("history_id", std::to_string(mailbox.history_id()));
  out.object("quota").field("units", quota.used(key)).field("max_per_minute", quota.max_per_minute(key)).end_object();
  out.object("effects").field("sends", effects.sends).field("inserts", effects.inserts);
  out.field("modifies", effects.modifies).field("trashes", effects.trashes).field("untrashes", effects.untrashes);
  out.field("deletes", effects.deletes).field("drafts_created", effects.drafts_created);
  out.field("drafts_updated", effects.drafts_updated).field("drafts_sent", effects.drafts_sent);
  out.field("drafts_deleted", effects.drafts_deleted).end_object().object("markers");
  for (const auto& [marker, count] : mailbox.markers) {
    out.object(marker).field("sent", count.sent).field("live", count.live);
    out.field("drafts", count.drafts).field("drafts_live", count.drafts_live).end_object();
  }
  out.end_object().end_object();
}

void Control::write_state(JsonOut& out) const {
  write_common_state(out);
  out.object("mailboxes");
  for (const auto& [address, mailbox] : state_.mailboxes()) write_mailbox(*mailbox, state_.quota, out);
  out.end_object();
}

void Control::write_methods(JsonOut& out) {
  out.object("methods");
  for (const Method& method : all_methods()) {
    out.object(method.id).field("verb", method.verb).field("path", method.path).field("units", method.units);
    out.field("max_upload", method.max_upload);
    out.array("scopes");
    for (const char* scope : method.scopes) out.value(full_scope(scope));
    out.end_array().array("parameters");
    for (const char* parameter : method.parameters) out.value(parameter);
    out.end_array().end_object();
  }
  out.end_object();
}

}  // namespace krux::test::gmail
