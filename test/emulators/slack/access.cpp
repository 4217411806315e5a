#include "emulators/slack/access.hpp"

#include "emulators/slack/render.hpp"

namespace krux::test::slack {

bool is_bot_token(const MethodContext& context) {
  const std::string& token = context.call.token;
  return token.rfind("xoxp-", 0) != 0 && token.rfind("xoxe.xoxp-", 0) != 0;
}

const std::string& acting_user(const MethodContext& context) {
  return context.token->user.empty() ? context.workspace.bot.user_id : context.token->user;
}

Channel* visible_channel(MethodContext& context, bool by_name_too) {
  const std::string wanted = context.call.text("channel");
  Channel* channel = context.workspace.channel(wanted);
  if (!channel && by_name_too) channel = context.workspace.channel_by_name(wanted);
  if (channel && channel->info.kind != ChannelKind::public_channel && !channel->info.is_member) return nullptr;
  return channel;
}

MaybeFailure may_read(const MethodContext& context, const Channel& channel) {
  const std::string scope = std::string(scope_family(channel.info.kind)) + ":history";
  if (!context.token->has(scope)) return Failure{"missing_scope", scope, {}};
  if (is_bot_token(context) && !channel.info.is_member) return Failure{"not_in_channel", "", {}};
  return std::nullopt;
}

bool is_own(const MethodContext& context, const Message& message) {
  return message.user == acting_user(context) && !message.tombstone;
}

}  // namespace krux::test::slack
