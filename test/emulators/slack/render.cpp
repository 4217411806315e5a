#include "emulators/slack/render.hpp"

#include <algorithm>

namespace krux::test::slack {
namespace {

void render_profile(const Workspace& workspace, const User& user, JsonOut& out) {
  out.object("profile").field("title", "").field("phone", "").field("skype", "");
  out.field("real_name", user.real_name).field("real_name_normalized", user.real_name);
  out.field("display_name", user.display_name).field("display_name_normalized", user.display_name);
  out.field("status_text", "").field("status_emoji", "").field("avatar_hash", "0123456789ab").null_field("fields");
  out.field("team", workspace.team.id);
  if (user.id == workspace.bot.user_id) {
    out.field("bot_id", workspace.bot.bot_id).field("api_app_id", workspace.bot.app_id);
  }
  out.end_object();
}

void render_note(const char* key, const std::string& value, const ChannelInfo& info, JsonOut& out) {
  out.object(key).field("value", value).field("creator", value.empty() ? "" : info.creator.c_str());
  out.field("last_set", value.empty() ? 0 : info.created).end_object();
}

void render_bot_profile(const Workspace& workspace, const Message& message, JsonOut& out) {
  const bool own = message.bot_id == workspace.bot.bot_id;
  out.object("bot_profile").field("id", message.bot_id).field("app_id", message.app_id);
  out.field("name", own ? workspace.bot.user_name : message.bot_name)
      .field("deleted", false)
      .field("updated", 1600000000);
  out.field("team_id", workspace.team.id).object("icons");
  out.field("image_36", "https://a.slack-edge.com/bot_36.png").field("image_48", "https://a.slack-edge.com/bot_48.png");
  out.field("image_72", "https://a.slack-edge.com/bot_72.png").end_object().end_object();
}

void render_thread_summary(const Channel& channel, const Message& parent, JsonOut& out) {
  const std::set<Ts>& replies = channel.threads.at(parent.ts);
  std::vector<std::string> users;
  for (Ts reply : replies) {
    const Message& message = channel.messages.at(reply);
    const std::string& user = message.user.empty() ? message.bot_id : message.user;
    if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
  }
  out.field("reply_count", replies.size()).field("reply_users_count", users.size());
  out.field("latest_reply", format_ts(*replies.rbegin())).array("reply_users");
  for (std::size_t i = 0; i < users.size() && i < 5; ++i) out.value(users[i]);  // Slack names at most five
  out.end_array().field("is_locked", false).field("subscribed", false);
}

void render_reactions(const Message& message, int users_max, JsonOut& out) {
  out.array("reactions");
  for (const Reaction& reaction : message.reactions) {
    out.object().field("name", reaction.name).array("users");
    for (std::size_t i = 0; i < reaction.users.size() && static_cast<int>(i) < users_max; ++i) {
      out.value(reaction.users[i]);
    }
    out.end_array().field("count", reaction.users.size()).end_object();
  }
  out.end_array();
}

std::string subtype_of(const Message& message) {
  if (message.tombstone) return "tombstone";
  if (message.broadcast) return "thread_broadcast";
  return message.subtype;
}

void render_file(const Workspace& workspace, const Message& message, const File& file, JsonOut& out) {
  const std::string at = "https://files.slack.com/files-pri/" + workspace.team.id + "-" + file.id + "/";
  out.object().field("id", file.id).field("created", message.ts / 1'000'000).field("timestamp", message.ts / 1'000'000);
  out.field("name", file.name).field("title", file.title).field("mimetype", file.mimetype);
  out.field("filetype", file.filetype).field("pretty_type", file.filetype).field("user", message.user);
  out.field("editable", false).field("size", file.size).field("mode", "hosted").field("is_external", false);
  out.field("external_type", "").field("is_public", true).field("public_url_shared", false);
  out.field("display_as_bot", false).field("username", "").field("url_private", at + file.name);
  out.field("url_private_download", at + "download/" + file.name);
  out.field("permalink", "https://" + workspace.team.domain + ".slack.com/files/" + message.user + "/" + file.id);
  out.end_object();
}

// The message that opens the thread, as a broadcast carries it.
void render_root(const Workspace& workspace, const Channel& channel, const Message& message, const MessageView& view,
                 JsonOut& out) {
  const Message* parent = message.broadcast ? channel.find(message.thread_ts) : nullptr;
  if (!parent) return;
  JsonOut root;
  render_message(workspace, channel, *parent, view, root);
  out.raw_field("root", root.str());
}

}  // namespace

const char* scope_family(ChannelKind kind) {
  static const char* const names[] = {"channels", "groups", "mpim", "im"};
  return names[static_cast<int>(kind)];
}

const char* type_name(ChannelKind kind) {
  static const char* const names[] = {"public_channel", "private_channel", "mpim", "im"};
  return names[static_cast<int>(kind)];
}

void render_user(const Workspace& workspace, const User& user, JsonOut& out) {
  out.object().field("id", user.id).field("team_id", workspace.team.id).field("name", user.name);
  out.field("deleted", user.deleted);
  if (!user.deleted) {
    out.field("color", "9f69e7").field("real_name", user.real_name).field("tz", "Europe/Amsterdam");
    out.field("tz_label", "Central European Time").field("tz_offset", 3600);
    out.field("is_admin", false).field("is_owner", false).field("is_primary_owner", false);
    out.field("is_restricted", false).field("is_ultra_restricted", false);
  }
  render_profile(workspace, user, out);
  out.field("is_bot", user.is_bot).field("is_app_user", false).field("updated", user.updated).end_object();
}

void render_channel(const Workspace& workspace, const ChannelInfo& info, bool with_members, JsonOut& out) {
  const bool is_public = info.kind == ChannelKind::public_channel;
  out.object().field("id", info.id).field("name", info.name).field("name_normalized", info.name);
  out.field("is_channel", is_public).field("is_group", info.kind == ChannelKind::private_channel);
  out.field("is_im", info.kind == ChannelKind::im).field("is_mpim", info.kind == ChannelKind::mpim);
  out.field("is_private", !is_public).field("created", info.created).field("creator", info.creator);
  out.field("is_archived", info.is_archived).field("is_general", info.is_general).field("unlinked", 0);
  out.field("is_shared", false).field("is_ext_shared", false).field("is_org_shared", false);
  out.field("is_pending_ext_shared", false).field("is_member", info.is_member && !info.is_archived);
  out.array("shared_team_ids").value(workspace.team.id).end_array().array("previous_names").end_array();
  render_note("topic", info.topic, info, out);
  render_note("purpose", info.purpose, info, out);
  if (with_members) out.field("num_members", info.num_members);
  out.end_object();
}

void render_message(const Workspace& workspace, const Channel& channel, const Message& message, const MessageView& view,
                    JsonOut& out) {
  out.object().field("type", "message");
  const std::string subtype = subtype_of(message);
  if (!subtype.empty()) out.field("subtype", subtype);
  if (!message.user.empty()) out.field("user", message.user);
  out.field("text", message.text).field("ts", format_ts(message.ts));
  if (message.tombstone)
    out.field("hidden", true);
  else
    out.field("team", workspace.team.id);
  if (!message.bot_id.empty()) {
    out.field("bot_id", message.bot_id);
    // What was posted for an app; an integration of the old kind has none.
    if (!message.app_id.empty()) {
      out.field("app_id", message.app_id);
      render_bot_profile(workspace, message, out);
    }
  }
  if (!message.username.empty()) out.field("username", message.username);
  if (message.thread_ts) out.field("thread_ts", format_ts(message.thread_ts));
  if (message.is_reply() && !message.parent_user_id.empty()) out.field("parent_user_id", message.parent_user_id);
  if (view.thread && channel.threads.count(message.ts)) render_thread_summary(channel, message, out);
  if (message.edited) {
    out.object("edited").field("user", message.edited->user).field("ts", format_ts(message.edited->ts)).end_object();
  }
  if (!message.reactions.empty()) render_reactions(message, view.reaction_users_max, out);
  if (!message.files.empty()) {
    out.array("files");
    for (const File& file : message.files) render_file(workspace, message, file, out);
    out.end_array().field("upload", false);
  }
  render_root(workspace, channel, message, view, out);
  if (!message.blocks.empty()) out.raw_field("blocks", message.blocks);
  if (!message.attachments.empty()) out.raw_field("attachments", message.attachments);
  if (view.metadata && !message.metadata.empty()) out.raw_field("metadata", message.metadata);
  out.end_object();
}

}  // namespace krux::test::slack
