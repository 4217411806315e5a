// Adding and removing reactions. All agents share one user at Slack, who has a reaction once: what was there before a
// write is not that write's to undo.
#include <algorithm>

#include "write.hpp"

namespace slack {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;

constexpr const char* kWasThere = "was_there";

std::string reacted(bool was_there_already) {
  ObjectWriter writer;
  writer.text("status", "ok");
  if (was_there_already) writer.flag("already", true);
  return writer.done();
}

/// By the rollback point: certainly so. A point may not know, and a write that is not undone has none.
bool was_absent(std::string_view point_json) {
  const auto point = parse(point_json);
  return !point.HasParseError() && member(point, kWasThere) && !flag_of(point, kWasThere);
}

/// Whether an attempt before this one may have had an effect: only that one is noted.
bool may_have_acted(const kruxos::BufferedWrite& write) {
  return !write.note_json.empty();
}

void note_open_attempt(const kruxos::Call& call) {
  try {
    call.remember(R"({"may_have_acted":true})");
  } catch (const kruxos::ProxyError&) {
    // Without the note a later attempt takes the reaction for somebody else's, and its undo leaves it alone.
  }
}

}  // namespace

std::string Writer::rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  if (write.operation != "slack.react") return "{}";
  try {
    const auto there = has_reacted(call, params_of(write.params_json));
    return there ? ObjectWriter().flag(kWasThere, *there).done() : "{}";
  } catch (const SlackError& error) {
    // Without the scope nobody knows, and a refusal is better told by the attempt itself.
    const bool refused = error.kind() == ErrorKind::kNotFound || error.kind() == ErrorKind::kRefused;
    if (refused || may_not_look(error)) return "{}";
    throw;
  }
}

std::string Writer::react(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                          bool add) const {
  try {
    change_reaction(call, params, add);
    return reacted(false);
  } catch (const SlackError& error) {
    if (error.name() != (add ? "already_reacted" : "no_reaction")) {
      if (!error.has_no_effect()) note_open_attempt(call);
      throw;
    }
    const bool by_earlier_attempt = may_have_acted(write) && (!add || was_absent(write.point_json));
    return reacted(!by_earlier_attempt);
  }
}

EffectFound Writer::find_reaction(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                                  bool add) const {
  const auto there = has_reacted(call, params);
  if (!there) return EffectFound::cannot_tell();
  if (*there != add) return EffectFound::absent();
  note_change(call, {str(params, "channel"), str(params, "ts"), ""});
  return EffectFound::found(reacted(add && !was_absent(write.point_json)));
}

std::string Writer::remove_reaction(const kruxos::Call& call, const Json& params) const {
  try {
    change_reaction(call, params, false);
    return undone(false);
  } catch (const SlackError& error) {
    if (error.name() == "no_reaction" || error.name() == "message_not_found") return undone(true);
    throw;
  }
}

void Writer::change_reaction(const kruxos::Call& call, const Json& params, bool add) const {
  const auto channel = str(params, "channel"), ts = str(params, "ts");
  change(call, add ? "reactions.add" : "reactions.remove",
         {{"channel", channel}, {"timestamp", ts}, {"name", str(params, "reaction")}}, {channel, ts, ""});
}

std::optional<bool> Writer::has_reacted(const kruxos::Call& call, const Json& params) const {
  const auto own_user = user_of_token(call);
  const auto answer = api_.call(
      call, "reactions.get", {{"channel", str(params, "channel")}, {"timestamp", str(params, "ts")}, {"full", "true"}});
  const auto* message = member(answer.body, "message");
  if (own_user.empty() || !message || !message->IsObject()) return std::nullopt;
  const auto* reactions = member(*message, "reactions");
  if (!reactions) return false;
  if (!reactions->IsArray()) return std::nullopt;
  bool unsure = false;
  for (const auto& reaction : reactions->GetArray()) {
    const bool same_name = text_of(reaction, "name") == text_of(params, "reaction");
    const auto* users = member(reaction, "users");
    const bool is_list = users && users->IsArray();
    const bool mine =
        is_list && std::any_of(users->Begin(), users->End(), [&](const Json& user) {
          return user.IsString() && std::string_view(user.GetString(), user.GetStringLength()) == own_user;
        });
    if (mine && same_name) return true;
    // An emoji has several names, of which Slack tells one; and Slack may list fewer users than it counts.
    const bool all_listed = is_list && static_cast<std::int64_t>(users->Size()) >= integer_of(reaction, "count");
    unsure = unsure || mine || !all_listed;
  }
  return unsure ? std::nullopt : std::optional(false);
}

/// An instance has one token all its life.
std::string Writer::user_of_token(const kruxos::Call& call) const {
  {
    const std::lock_guard lock(user_mutex_);
    if (!user_.empty()) return user_;
  }
  const auto self = api_.call(call, "auth.test", {});
  const std::lock_guard lock(user_mutex_);
  user_ = text_of(self.body, "user_id");
  return user_;
}

}  // namespace slack
