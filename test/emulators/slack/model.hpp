// What a Slack workspace is made of. Plain data, no behaviour beyond small helpers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulators/common/json_out.hpp"

namespace krux::test::slack {

using namespace emulator;

// A message's ts: Unix microseconds, unique within its channel. "1700000000.000100" on the wire.
using Ts = std::int64_t;

std::string format_ts(Ts ts);
// Accepts "1700000000.000100", and with allow_short whole or partial seconds as `oldest` and `latest` do.
std::optional<Ts> parse_ts(std::string_view text, bool allow_short = false);

struct Team {
  std::string id = "T0KRUXTEAM";
  std::string name = "Krux Test Team";
  std::string domain = "kruxtest";
};

// Whom a bot token acts as. What it posts carries user, bot_id and app_id.
struct Bot {
  std::string user_id = "U0KRUXBOT1";
  std::string user_name = "kruxbot";
  std::string bot_id = "B0KRUXBOT1";
  std::string app_id = "A0KRUXAPP1";
};

struct User {
  std::string id, name, real_name, display_name;
  bool is_bot = false;
  bool deleted = false;
  std::int64_t updated = 1600000000;  // seconds
};

struct Reaction {
  std::string name;
  std::vector<std::string> users;  // in the order they reacted
};

struct Edit {
  std::string user;
  Ts ts = 0;
};

struct File {
  std::string id, name, title, mimetype, filetype;
  std::int64_t size = 0;
};

struct Message {
  Ts ts = 0;
  Ts thread_ts = 0;                        // 0: in no thread; equal to ts: a thread's parent
  std::string user, bot_id, app_id, text;  // user: empty where an integration posts as nobody
  std::string username;                    // the name a bot chose for this message
  std::string bot_name;                    // of an integration: what its profile says
  std::string subtype;                     // bot_message, channel_join, me_message, file_share; empty: an ordinary one
  std::string metadata, blocks, attachments;  // JSON texts, empty when there are none
  std::vector<File> files;
  std::string parent_user_id;  // of a reply
  bool broadcast = false;      // a reply that is shown in the channel too
  bool tombstone = false;      // a deleted parent whose replies live on
  std::optional<Edit> edited;
  std::vector<Reaction> reactions;

  bool is_reply() const { return thread_ts != 0 && thread_ts != ts; }
};

enum class ChannelKind { public_channel, private_channel, mpim, im };

struct ChannelInfo {
  std::string id, name, topic, purpose, creator;
  ChannelKind kind = ChannelKind::public_channel;
  bool is_archived = false;
  bool is_member = true;  // whether the bot is in it
  bool is_general = false;
  std::int64_t created = 1600000000;  // seconds
  int num_members = 1;
};

struct Channel {
  ChannelInfo info;
  std::map<Ts, Message> messages;
  std::map<Ts, std::set<Ts>> threads;  // parent -> its live replies

  const Message* find(Ts ts) const {
    auto found = messages.find(ts);
    return found == messages.end() ? nullptr : &found->second;
  }
  Message* find(Ts ts) {
    auto found = messages.find(ts);
    return found == messages.end() ? nullptr : &found->second;
  }
};

}  // namespace krux::test::slack
