#include "emulators/slack/control.hpp"

#include "emulators/slack/documents.hpp"
#include "emulators/slack/render.hpp"
#include "emulators/slack/seed.hpp"

namespace krux::test::slack {
namespace {

HttpAnswer refused(int status, const std::string& problem) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = JsonOut().object().field("ok", false).field("problem", problem).end_object().str();
  return answer;
}

HttpAnswer accepted(JsonOut& out) {
  HttpAnswer answer;
  answer.body = out.end_object().str();
  return answer;
}

std::string query_value(const std::string& query, const std::string& name) {
  HttpRequest request;
  request.method = "GET";
  request.query = query;
  return read_call(request, "").text(name);
}

}  // namespace

HttpAnswer Control::handle(const HttpRequest& request) {
  const std::string what = request.path.substr(std::string("/_emulator/").size());
  if (request.method == "GET") return get(request);
  if (request.method == "DELETE" && what == "faults") {
    state_.faults.clear();
    return accepted(JsonOut().object().field("ok", true));
  }
  if (request.method != "POST") return refused(405, "the control plane takes GET, POST and DELETE");
  rapidjson::Document document;
  if (!parse_json(request.body.empty() ? "{}" : request.body, document)) return refused(400, "the body is no JSON");
  return post(what, document);
}

HttpAnswer Control::get(const HttpRequest& request) {
  const std::string what = request.path.substr(std::string("/_emulator/").size());
  JsonOut out;
  out.object();
  if (what == "state") {
    write_state(out);
  } else if (what == "log") {
    const std::string after = query_value(request.query, "after");
    state_.journal.write_log(query_value(request.query, "method"), std::strtoull(after.c_str(), nullptr, 10), out);
  } else if (what == "faults") {
    state_.faults.write(out);
  } else if (what == "methods") {
    write_methods(out);
  } else if (what == "messages") {
    const Channel* channel = state_.workspace->channel(query_value(request.query, "channel"));
    if (!channel) return refused(404, "there is no such channel");
    write_messages(*channel, out);
  } else {
    return refused(404, "GET knows state, log, methods, faults and messages?channel=C…");
  }
  return accepted(out);
}

HttpAnswer Control::post(const std::string& what, const rapidjson::Value& document) {
  JsonOut out;
  out.object().field("ok", true);
  std::string problem;
  bool done = true;
  if (what == "seed") {
    done = seed(*state_.workspace, document, state_.clock.now_ms(), out, problem);
  } else if (what == "act") {
    done = act(state_, document, out, problem);
  } else if (what == "clock") {
    done = set_clock(document, out, problem);
  } else if (what == "limits") {
    done = set_limits(document, problem);
  } else if (what == "behaviour") {
    done = set_behaviour(document, problem);
  } else if (what == "fault") {
    auto fault = read_fault(document, problem);
    done = fault.has_value();
    if (done) state_.faults.add(std::move(*fault));
  } else if (what == "release") {
    done = only_keys(document, {"answer"}, problem);
    if (done) out.field("applied", api_.release(flag_or(document, "answer")));
  } else if (what == "reset") {
    api_.drop_held();
    state_.reset();
  } else {
    return refused(404, "POST knows seed, act, clock, limits, behaviour, fault, release and reset");
  }
  return done ? accepted(out) : refused(400, problem);
}

bool Control::set_clock(const rapidjson::Value& document, JsonOut& out, std::string& problem) {
  if (!only_keys(document, {"advance_ms", "set_ms"}, problem)) return false;
  if (!state_.clock.is_driven()) return problem = "the clock is real: start with --clock driven", false;
  if (member(document, "set_ms")) state_.clock.set_ms(number_or(document, "set_ms"));
  state_.clock.advance_ms(number_or(document, "advance_ms"));
  api_.run_due();
  out.field("now_ms", state_.clock.now_ms());
  return true;
}

bool Control::set_limits(const rapidjson::Value& document, std::string& problem) {
  if (!only_keys(document, {"preset", "methods"}, problem)) return false;
  const std::string preset = text_or(document, "preset");
  if (!preset.empty() && !state_.limits.preset(preset)) {
    return problem = "preset is off, tiers or non_marketplace", false;
  }
  const rapidjson::Value* methods = member(document, "methods");
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
  out.field("now_ms", state_.clock.now_ms()).field("driven", state_.clock.is_driven());
  out.field("hanging", api_.hanging()).field("pending_effects", api_.pending_effects());
  out.field("channels", workspace.channel_count()).field("users", workspace.user_count());
  state_.journal.write_counters(out);
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
