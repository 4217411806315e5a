// Adding and removing reactions. All agents share one user at Slack, who has a reaction once: what was there before a
// write is not that write's to undo.
//
// An emoji has several names, of which Slack shows one, always the same. So a name that is shown now and was not shown
// before the write has come since; one that is not shown may still be there by another name. To add it once more, or to
// remove it once more, does nothing then, and Slack's answer says so: what a look does not see is "absent".
#include <algorithm>

#include "write.hpp"

namespace slack {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;
using EmojiNames = std::vector<std::string>;

constexpr const char *kWasThere = "was_there", *kOwn = "own";

bool contains(const EmojiNames& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string reacted(bool was_there_already) {
  ObjectWriter writer;
  writer.text("status", "ok");
  if (was_there_already) writer.flag("already", true);
  return writer.done();
}

enum class Before { kNotKnown, kThere, kAbsentByName, kAbsent };

/// By the rollback point. It may not know, and a write that is not undone has none.
Before before_of(std::string_view point_json, std::string_view name) {
  const auto point = parse(point_json);
  if (point.HasParseError()) return Before::kNotKnown;
  if (member(point, kWasThere)) return flag_of(point, kWasThere) ? Before::kThere : Before::kAbsent;
  const auto* own = member(point, kOwn);
  if (!own || !own->IsArray()) return Before::kNotKnown;
  if (own->Empty()) return Before::kAbsent;
  const auto is_it = [&](const Json& one) {
    return one.IsString() && std::string_view(one.GetString(), one.GetStringLength()) == name;
  };
  return std::any_of(own->Begin(), own->End(), is_it) ? Before::kThere : Before::kAbsentByName;
}

/// Whether an attempt before this one may have had an effect: only that one is noted.
bool may_have_acted(const kruxos::BufferedWrite& write) {
  return !write.note_json.empty();
}

void note_open_attempt(const kruxos::Call& call) {
  try {
    call.remember(R"({"may_have_acted":true})");
  } catch (const ProxyError&) {
    // Without the note a later attempt takes the reaction for somebody else's, and its undo leaves it alone.
  }
}

constexpr const char* kNotAllReactions = "Slack did not show all who reacted to the message.";

ProxyError left_alone(bool known) {
  ProxyError error(ErrorKind::kConflict,
                   known ? "The reaction was there before this write, which added nothing, so it is left. Only an "
                           "operator can remove it nevertheless, by force."
                         : "It is not known whether the reaction was there before this write, so it is left. Only an "
                           "operator can remove it nevertheless, by force.");
  error.type("RollbackConflict").no_effect();
  return error;
}

}  // namespace

std::string Writer::rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  if (write.operation != "slack.react") return "{}";
  const auto own = own_reactions_or_nothing(call, params_of(write.params_json));
  if (!own) return "{}";
  std::string names;
  for (const auto& name : *own) names += (names.empty() ? "" : ",") + quoted(name);
  return ObjectWriter().raw(kOwn, "[" + names + "]").done();
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
    const bool by_earlier_attempt = may_have_acted(write) && (!add || came_since(call, write, params));
    return reacted(!by_earlier_attempt);
  }
}

/// Whether the reaction that stands now was certainly not there before the write.
bool Writer::came_since(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params) const {
  const auto name = str(params, "reaction");
  const auto before = before_of(write.point_json, name);
  if (before != Before::kAbsentByName) return before == Before::kAbsent;
  const auto own = own_reactions_or_nothing(call, params);
  return own && contains(*own, name);
}

EffectFound Writer::find_reaction(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                                  bool add) const {
  const auto own = own_reactions(call, params);
  if (!own) return EffectFound::cannot_tell(kNotAllReactions);
  const auto name = str(params, "reaction");
  if (add ? !contains(*own, name) : !own->empty()) return EffectFound::absent();
  note_change(call, {str(params, "channel"), str(params, "ts"), ""});
  const auto before = before_of(write.point_json, name);
  return EffectFound::found(reacted(add && before != Before::kAbsent && before != Before::kAbsentByName));
}

std::string Writer::undo_reaction(const kruxos::Call& call, const kruxos::RollbackRequest& request, const Json& params,
                                  const Json& result) const {
  if (flag_of(result, "already") && !request.force) {
    const auto own = own_reactions_or_nothing(call, params);
    if (!own || !own->empty())
      throw left_alone(before_of(request.point_json, str(params, "reaction")) == Before::kThere);
    note_change(call, {str(params, "channel"), str(params, "ts"), ""});
    return undone(true);
  }
  try {
    change_reaction(call, params, false);
    return undone(false);
  } catch (const SlackError& error) {
    if (error.name() == "no_reaction" || error.name() == "message_not_found") return undone(true);
    throw;
  }
}

EffectFound Writer::find_undone_reaction(const kruxos::Call& call, const Json& params) const {
  const auto own = own_reactions(call, params);
  if (!own) return EffectFound::cannot_tell(kNotAllReactions);
  if (!own->empty()) return EffectFound::absent();
  note_change(call, {str(params, "channel"), str(params, "ts"), ""});
  return EffectFound::found(undone(false));
}

void Writer::change_reaction(const kruxos::Call& call, const Json& params, bool add) const {
  const auto channel = str(params, "channel"), ts = str(params, "ts");
  change(call, add ? "reactions.add" : "reactions.remove",
         {{"channel", channel}, {"timestamp", ts}, {"name", str(params, "reaction")}}, {channel, ts, ""});
}

std::optional<EmojiNames> Writer::own_reactions(const kruxos::Call& call, const Json& params) const {
  const auto own_user = user_of_token(call);
  const auto answer = api_.call(
      call, "reactions.get", {{"channel", str(params, "channel")}, {"timestamp", str(params, "ts")}, {"full", "true"}});
  const auto* message = member(answer.body, "message");
  if (own_user.empty() || !message || !message->IsObject()) return std::nullopt;
  EmojiNames own;
  const auto* reactions = member(*message, "reactions");
  if (!reactions) return own;
  if (!reactions->IsArray()) return std::nullopt;
  for (const auto& reaction : reactions->GetArray()) {
    const auto* users = member(reaction, "users");
    const bool is_list = users && users->IsArray();
    const bool mine =
        is_list && std::any_of(users->Begin(), users->End(), [&](const Json& user) {
          return user.IsString() && std::string_view(user.GetString(), user.GetStringLength()) == own_user;
        });
    if (mine) {
      own.emplace_back(text_of(reaction, "name"));
      continue;
    }
    // Slack may list fewer users than it counts.
    if (!is_list || static_cast<std::int64_t>(users->Size()) < integer_of(reaction, "count")) return std::nullopt;
  }
  return own;
}

std::optional<EmojiNames> Writer::own_reactions_or_nothing(const kruxos::Call& call, const Json& params) const {
  try {
    return own_reactions(call, params);
  } catch (const SlackError& error) {
    // Without the scope nobody knows, and a refusal is better told by what comes next.
    const bool refused = error.kind() == ErrorKind::kNotFound || error.kind() == ErrorKind::kRefused;
    if (refused || may_not_look(error)) return std::nullopt;
    throw;
  }
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
