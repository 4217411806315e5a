// Which channel a call means and whether the caller may use it.
#pragma once

#include "emulators/slack/methods.hpp"

namespace krux::test::slack {

// The channel that `channel` names by id, or by "#name" where names are taken too. Null when it does not exist or is
// private and without the bot: Slack answers channel_not_found to both.
Channel* visible_channel(MethodContext& context, bool by_name_too);

// For reading messages: the family's history scope and, in a bot's case, membership.
MaybeFailure may_read(const MethodContext& context, const Channel& channel);

// Whom the caller acts as: a person, or the bot.
const std::string& acting_user(const MethodContext& context);

// True for what the caller itself posted.
bool is_own(const MethodContext& context, const Message& message);

// Bots act only in what they joined; a user's token also reads public channels.
bool is_bot_token(const MethodContext& context);

}  // namespace krux::test::slack
