// reactions.*, auth.* and api.test.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "emulators/slack/access.hpp"
#include "emulators/slack/emoji.hpp"
#include "emulators/slack/render.hpp"

namespace krux::test::slack {
namespace {

// The message that `channel` and `timestamp` name.
MaybeFailure reacted_message(MethodContext& context, Channel*& channel, Message*& message) {
  if (context.call.text("channel").empty() || context.call.text("timestamp").empty()) {
    return Failure{"no_item_specified", "", {}};
  }
  channel = visible_channel(context, false);
  if (!channel) return Failure{"channel_not_found", "", {}};
  const auto ts = parse_ts(context.call.text("timestamp"));
  if (!ts) return Failure{"bad_timestamp", "", {}};
  message = channel->find(*ts);
  if (!message || message->tombstone) return Failure{"message_not_found", "", {}};
  return std::nullopt;
}

MaybeFailure change_reaction(MethodContext& context, bool add) {
  Channel* channel = nullptr;
  Message* message = nullptr;
  const std::string name = shown_emoji_name(context.call.text("name"));
  if (!is_emoji_name(name) && context.workspace.custom_emoji.count(name) == 0) return Failure{"invalid_name", "", {}};
  if (MaybeFailure failure = reacted_message(context, channel, message)) return failure;
  if (channel->info.is_archived) return Failure{"is_archived", "", {}};
  if (!channel->info.is_member) return Failure{"not_in_channel", "", {}};
  const std::string& user = acting_user(context);
  Effects& effects = context.workspace.effects;
  if (add) {
    if (!context.workspace.react(*message, name, user)) return Failure{"already_reacted", "", {}};
    ++effects.reactions_added;
  } else {
    if (!context.workspace.unreact(*message, name, user)) return Failure{"no_reaction", "", {}};
    ++effects.reactions_removed;
  }
  return std::nullopt;
}

}  // namespace

MaybeFailure reactions_add(MethodContext& context) {
  return change_reaction(context, true);
}
MaybeFailure reactions_remove(MethodContext& context) {
  return change_reaction(context, false);
}

MaybeFailure reactions_get(MethodContext& context) {
  Channel* channel = nullptr;
  Message* message = nullptr;
  if (MaybeFailure failure = reacted_message(context, channel, message)) return failure;
  MessageView view;
  if (!context.call.flag("full"))
    view.reaction_users_max = context.behaviour.reaction_users_max;
  else
    view.reaction_users_max = std::numeric_limits<int>::max();
  JsonOut rendered;
  render_message(context.workspace, *channel, *message, view, rendered);
  context.out.field("type", "message").field("channel", channel->info.id).raw_field("message", rendered.str());
  return std::nullopt;
}

MaybeFailure auth_test(MethodContext& context) {
  const Workspace& workspace = context.workspace;
  context.out.field("url", fmt::format("https://{}.slack.com/", workspace.team.domain));
  const Token& token = *context.token;
  context.out.field("team", token.team.empty() ? workspace.team.name : token.team);
  context.out.field("user", token.user.empty() ? workspace.bot.user_name : token.user);
  context.out.field("team_id", token.team.empty() ? workspace.team.id : token.team);
  context.out.field("user_id", acting_user(context));
  if (is_bot_token(context)) context.out.field("bot_id", workspace.bot.bot_id);
  context.out.field("is_enterprise_install", false);
  return std::nullopt;
}

MaybeFailure auth_revoke(MethodContext& context) {
  const bool test = context.call.flag("test");
  if (!test) context.tokens.revoke(context.call.token);
  context.out.field("revoked", !test);
  return std::nullopt;
}

MaybeFailure api_test(MethodContext& context) {
  if (const std::string error = context.call.text("error"); !error.empty()) return Failure{error, "", {}};
  context.out.object("args");
  for (const auto& [name, value] : context.call.params) context.out.field(name, value);
  context.out.end_object();
  return std::nullopt;
}

}  // namespace krux::test::slack
