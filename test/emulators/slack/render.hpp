// Workspace objects as the API shows them.
#pragma once

#include "emulators/slack/behaviour.hpp"
#include "emulators/slack/workspace.hpp"

namespace krux::test::slack {

struct MessageView {
  bool metadata = false;  // show the metadata
  bool thread = true;     // show a parent's reply_count and its like
  int reaction_users_max = 50;
};

// Each writes one complete object as the value that `out` waits for.
void render_user(const Workspace& workspace, const User& user, JsonOut& out);
void render_channel(const Workspace& workspace, const ChannelInfo& info, bool with_members, JsonOut& out);
void render_message(const Workspace& workspace, const Channel& channel, const Message& message, const MessageView& view,
                    JsonOut& out);

const char* scope_family(ChannelKind kind);  // "channels", "groups", "mpim", "im"
const char* type_name(ChannelKind kind);     // "public_channel", ...

}  // namespace krux::test::slack
