// The workspace's state and the things that can happen to it, whoever causes them: the API methods, the control
// plane acting as a person, or the seed. Pure: no clock, no sockets, one thread.
#pragma once

#include <unordered_map>

#include "emulators/slack/model.hpp"

namespace krux::test::slack {

// What happened to the messages of one marker (metadata's event_payload.write_id). Deleting does not lower `posted`.
struct MarkerEffects {
  int posted = 0;
  int deleted = 0;
};

// What API calls did, as opposed to the seed and to people.
struct Effects {
  std::int64_t posts = 0, edits = 0, deletes = 0, reactions_added = 0, reactions_removed = 0;
};

struct Draft {
  std::string user, bot_id, app_id, username, bot_name, subtype, text, metadata, blocks, attachments;
  std::vector<File> files;
  Ts thread_ts = 0;
  bool broadcast = false;
};

class Workspace {
 public:
  explicit Workspace(Team team = {}, Bot bot = {});

  const Team team;
  const Bot bot;
  Effects effects;
  std::set<std::string> custom_emoji;  // names of the workspace's own

  // Synthetic members exist by their number alone, so that large workspaces cost nothing: C9000000000 "channel-0",
  // U9000000000 "user.0". The first `member_channels` are joined by the bot. They are listed after the real ones.
  void set_synthetic(std::size_t channels, std::size_t users, std::size_t member_channels);

  void add_user(User user);
  Channel& add_channel(ChannelInfo info);

  std::size_t user_count() const { return users_.size() + synthetic_users_; }
  User user_at(std::size_t index) const;
  std::optional<std::size_t> user_index(const std::string& id) const;
  std::optional<User> user(const std::string& id) const;

  std::size_t channel_count() const { return channels_.size() + synthetic_channels_; }
  ChannelInfo channel_at(std::size_t index) const;
  std::optional<std::size_t> channel_index(const std::string& id) const;
  // A synthetic channel becomes a real one in memory when it is first asked for. Null: there is none.
  Channel* channel(const std::string& id);
  Channel* channel_by_name(const std::string& name);

  // Each takes a channel and messages that exist. `at` is the wanted ts; the one used is the next free one.
  const Message& post(Channel& channel, Draft draft, Ts at);
  void edit(Message& message, std::string text, const std::string& user, Ts at);
  void erase(Channel& channel, Ts ts);
  bool react(Message& message, const std::string& name, const std::string& user);    // false: already there
  bool unreact(Message& message, const std::string& name, const std::string& user);  // false: not there

  const std::map<std::string, MarkerEffects>& markers() const { return markers_; }

 private:
  ChannelInfo synthetic_channel(std::size_t number) const;

  std::vector<User> users_;
  std::unordered_map<std::string, std::size_t> user_index_;
  std::vector<Channel> channels_;
  std::unordered_map<std::string, std::size_t> channel_index_;
  std::unordered_map<std::string, Channel> touched_synthetic_;
  std::size_t synthetic_channels_ = 0, synthetic_users_ = 0, synthetic_member_channels_ = 0;
  std::map<std::string, MarkerEffects> markers_;
};

// The write_id in a message's metadata; empty when it has none.
std::string marker_of(const std::string& metadata_json);

}  // namespace krux::test::slack
