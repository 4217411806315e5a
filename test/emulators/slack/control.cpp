#include "emulators/slack/control.hpp"

#include "emulators/common/documents.hpp"
#include "emulators/slack/render.hpp"
#include "emulators/slack/seed.hpp"

namespace krux::test::slack {

ControlPlane::Outcome Control::get_own(const std::string& what, const std::map<std::string, std::string>& query,
                                       JsonOut& out, std::string& problem) {
  if (what == "state") {
    write_state(out);
  } else if (what == "methods") {
    write_methods(out);
  } else if (what == "oauth") {
    state_.oauth.write(out);
  } else if (what == "messages") {
    const auto wanted = query.find("channel");
    const Channel* channel = wanted == query.end() ? nullptr : state_.workspace->channel(wanted->second);
    if (!channel) return problem = "there is no such channel", Outcome::refused;
    write_messages(*channel, out);
  } else {
    return Outcome::unknown;
  }
  return Outcome::done;
}

ControlPlane::Outcome Control::post_own(const std::string& what, const rapidjson::Value& document, JsonOut& out,
                                        std::string& problem) {
  bool done = false;
  if (what == "seed") {
    done = seed(*state_.workspace, document, state_.clock.now_ms(), out, problem);
  } else if (what == "act") {
    done = act(state_, document, out, problem);
  } else if (what == "limits") {
    done = set_limits(document, problem);
  } else if (what == "behaviour") {
    done = set_behaviour(document, problem);
  } else if (what == "oauth") {
    done = state_.oauth.act(document, out, problem);
  } else {
    return Outcome::unknown;
  }
  return done ? Outcome::done : Outcome::refused;
}

bool Control::set_limits(const rapidjson::Value& document, std::string& problem) {
  if (!only_keys(document, {"preset", "methods"}, problem)) return false;
  const std::string preset = text_or(document, "preset");
  if (!preset.empty() && !state_.limits.preset(preset)) {
    return problem = "preset is off, tiers or non_marketplace", false;
  }
  const rapidjson::Value* methods = find_member(document, "methods");
  if (!methods) return true;
  if (!methods->IsObject()) return problem = "methods is an object of limits by method", false;
  for (const auto& entry : methods->GetObject()) {
    if (!find_method(entry.name.GetString())) return problem = "a limit is for a method that does not exist", false;
    if (!only_keys(entry.value, {"per_minute", "max_items"}, problem)) return false;
    state_.limits.set(entry.name.GetString(), {static_cast<int>(number_or(entry.value, "per_minute")),
                                               static_cast<int>(number_or(entry.value, "max_items"))});
  }
  return true;
}

bool Control::set_behaviour(const rapidjson::Value& document, std::string& problem) {
  if (!only_keys(document,
                 {"history_oldest_only", "replies_parent", "reaction_users_max", "users_without_limit_max", "text_max"},
                 problem)) {
    return false;
  }
  Behaviour& behaviour = state_.behaviour;
  const std::string oldest = text_or(document, "history_oldest_only", behaviour.history_oldest_only);
  if (oldest != "closest_to_oldest" && oldest != "newest_first") {
    return problem = "history_oldest_only is closest_to_oldest or newest_first", false;
  }
  const std::string parent = text_or(document, "replies_parent", behaviour.replies_parent);
  if (parent != "first_page" && parent != "every_page" && parent != "newest_chunk_first") {
    return problem = "replies_parent is first_page, every_page or newest_chunk_first", false;
  }
  behaviour.history_oldest_only = oldest;
  behaviour.replies_parent = parent;
  behaviour.reaction_users_max =
      static_cast<int>(number_or(document, "reaction_users_max", behaviour.reaction_users_max));
  behaviour.users_without_limit_max =
      static_cast<int>(number_or(document, "users_without_limit_max", behaviour.users_without_limit_max));
  behaviour.text_max = static_cast<int>(number_or(document, "text_max", behaviour.text_max));
  return true;
}

void Control::write_state(JsonOut& out) const {
  const Workspace& workspace = *state_.workspace;
  const Effects& effects = workspace.effects;
  out.field("channels", workspace.channel_count()).field("users", workspace.user_count());
  write_common_state(out);
  out.object("effects").field("posts", effects.posts).field("edits", effects.edits).field("deletes", effects.deletes);
  out.field("reactions_added", effects.reactions_added).field("reactions_removed", effects.reactions_removed);
  out.end_object().object("markers");
  for (const auto& [marker, count] : workspace.markers()) {
    out.object(marker).field("posted", count.posted).field("live", count.posted - count.deleted).end_object();
  }
  out.end_object();
}

void Control::write_methods(JsonOut& out) {
  out.object("methods");
  for (const Method& method : all_methods()) {
    out.object(method.name).array("scopes");
    for (const char* scope : method.scopes) out.value(scope);
    out.end_array().array("parameters");
    for (const char* parameter : method.parameters) out.value(parameter);
    out.end_array().end_object();
  }
  out.end_object();
}

void Control::write_messages(const Channel& channel, JsonOut& out) const {
  MessageView view;
  view.metadata = true;
  view.reaction_users_max = 1000000;
  out.array("messages");
  for (const auto& [ts, message] : channel.messages) render_message(*state_.workspace, channel, message, view, out);
  out.end_array();
}

}  // namespace krux::test::slack
