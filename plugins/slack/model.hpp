// Slack's channels, users and messages as records of the replica.
#pragma once

#include <kruxos/adapter.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emoji.hpp"
#include "json.hpp"

namespace slack {

inline constexpr const char* kChannels = "channels";
inline constexpr const char* kUsers = "users";
inline constexpr const char* kMessages = "messages";

std::vector<kruxos::Collection> collections();

/// An id as Slack makes them: a letter of `kinds`, then capitals and digits, nine characters or more.
bool is_id(std::string_view text, std::string_view kinds);

/// Records, or nothing when the object has no usable id. `generation` is the pass that saw it.
std::optional<kruxos::Record> channel_record(const Json& channel, std::int64_t generation);
std::optional<kruxos::Record> user_record(const Json& user, std::int64_t generation);

/// Those that post under a name that is not in Slack's list of users: integrations, and bots that give their messages
/// names. They stand in the collection of users too, for good: a look at Slack's list does not sweep them.
std::string author_id(std::string_view user, std::string_view username);
/// Nothing where the message's author is one of Slack's users.
std::optional<kruxos::Record> author_record(const struct Message& message);

/// A message of one channel. Replies belong to their thread's scope, everything else to the channel's, so that a
/// complete look at either can tell what is gone. A reply that was sent to the channel too belongs to the channel where
/// nobody looks at its thread.
struct Message {
  std::string channel, ts, thread_ts, user, text, bot_id, subtype, edited_ts, latest_reply;
  std::string username;  ///< the name that it was posted under, where that is no user's own
  std::string bot_name;  ///< of the app that posted it; not kept in the record
  std::string more;      ///< what blocks and attachments say besides the text, as agents read it
  std::string unmarked;  ///< see BlockTexts
  EmojiCharacters emoji;
  std::vector<std::string> mentions;  ///< names of the people whom it mentions, as far as they are known
  std::int64_t reply_count = 0;
  struct File {
    std::string id, name, title, type;
    std::int64_t size = 0;
  };
  std::vector<File> files;
  struct Reaction {
    std::string name;
    std::int64_t count = 0;
    std::vector<std::string> users;
  };
  std::vector<Reaction> reactions;
  bool replies_pending = false;  ///< the thread is to be looked at
  bool thread_active = false;    ///< opens a thread with replies that the look back reaches; not kept in the record
  bool thread_unknown = false;   ///< the replica lacks the first message of its thread

  bool is_reply() const { return !thread_ts.empty() && thread_ts != ts; }
  bool is_broadcast() const { return is_reply() && subtype == "thread_broadcast"; }
  bool has_replies() const { return reply_count > 0 && !is_reply(); }
  std::string id() const { return channel + "/" + ts; }
  /// Whose it is in the collection of users: a name that it was posted under is an author of its own.
  std::string author() const { return username.empty() ? user : author_id(user, username); }
  std::string thread_id() const { return channel + "/" + (thread_ts.empty() ? ts : thread_ts); }
};

/// From Slack's answer; nothing when it has no timestamp.
std::optional<Message> message_from_slack(const Json& json, std::string_view channel);
/// From a record's own JSON.
std::optional<Message> message_from_record(std::string_view json);
kruxos::Record message_record(const Message& message, std::int64_t generation);
/// Of a message without a timestamp, which nothing can name: the replica counts it as left out, until a look that
/// reaches `seen_ms` does not come upon it any more.
kruxos::Record timeless_record(const Json& message, std::string_view scope, std::int64_t generation,
                               std::int64_t seen_ms);

/// "C1/1700000001.000001" apart, the timestamp as Slack writes it; nothing when it is not a message's id.
struct MessageId {
  std::string channel, ts;
};
std::optional<MessageId> parse_message_id(std::string_view id);

}  // namespace slack
