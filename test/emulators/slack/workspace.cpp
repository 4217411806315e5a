#include "emulators/slack/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emulators/common/json_out.hpp"

namespace krux::test::slack {
namespace {

// The number in "C9000000042"; nothing for an id that is not synthetic or beyond `count`.
std::optional<std::size_t> synthetic_number(const std::string& id, char kind, std::size_t count) {
  if (id.size() != 11 || id[0] != kind || id[1] != '9') return std::nullopt;
  if (!std::all_of(id.begin() + 2, id.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  const std::size_t number = std::stoull(id.substr(2));
  return number < count ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string marker_of(const std::string& metadata_json) {
  rapidjson::Document metadata;
  if (metadata_json.empty() || !parse_json(metadata_json, metadata)) return "";
  const rapidjson::Value* payload = find_member(metadata, "event_payload");
  return payload ? text_or(*payload, "write_id") : "";
}

Workspace::Workspace(Team the_team, Bot the_bot) : team(std::move(the_team)), bot(std::move(the_bot)) {
  add_user({bot.user_id, bot.user_name, "Krux Bot", "kruxbot", true});
}

void Workspace::set_synthetic(std::size_t channels, std::size_t users, std::size_t member_channels) {
  synthetic_channels_ = channels;
  synthetic_users_ = users;
  synthetic_member_channels_ = member_channels;
}

void Workspace::add_user(User user) {
  auto known = user_index_.find(user.id);
  if (known != user_index_.end()) {
    users_[known->second] = std::move(user);
    return;
  }
  user_index_[user.id] = users_.size();
  users_.push_back(std::move(user));
}

Channel& Workspace::add_channel(ChannelInfo info) {
  auto known = channel_index_.find(info.id);
  if (known != channel_index_.end()) {
    channels_[known->second].info = std::move(info);
    return channels_[known->second];
  }
  channel_index_[info.id] = channels_.size();
  channels_.push_back({std::move(info), {}, {}});
  return channels_.back();
}

User Workspace::user_at(std::size_t index) const {
  if (index < users_.size()) return users_[index];
  const std::size_t number = index - users_.size();
  const std::string name = fmt::format("user.{}", number);
  return {fmt::format("U9{:09}", number), name, fmt::format("User {}", number), name};
}

std::optional<std::size_t> Workspace::user_index(const std::string& id) const {
  auto found = user_index_.find(id);
  if (found != user_index_.end()) return found->second;
  if (auto number = synthetic_number(id, 'U', synthetic_users_)) return users_.size() + *number;
  return std::nullopt;
}

std::optional<User> Workspace::user(const std::string& id) const {
  auto index = user_index(id);
  return index ? std::optional(user_at(*index)) : std::nullopt;
}

ChannelInfo Workspace::synthetic_channel(std::size_t number) const {
  ChannelInfo info;
  info.id = fmt::format("C9{:09}", number);
  info.name = fmt::format("channel-{}", number);
  info.creator = bot.user_id;
  info.is_member = number < synthetic_member_channels_;
  return info;
}

ChannelInfo Workspace::channel_at(std::size_t index) const {
  if (index < channels_.size()) return channels_[index].info;
  ChannelInfo info = synthetic_channel(index - channels_.size());
  auto touched = touched_synthetic_.find(info.id);
  return touched == touched_synthetic_.end() ? info : touched->second.info;
}

std::optional<std::size_t> Workspace::channel_index(const std::string& id) const {
  auto found = channel_index_.find(id);
  if (found != channel_index_.end()) return found->second;
  if (auto number = synthetic_number(id, 'C', synthetic_channels_)) return channels_.size() + *number;
  return std::nullopt;
}

Channel* Workspace::channel(const std::string& id) {
  auto found = channel_index_.find(id);
  if (found != channel_index_.end()) return &channels_[found->second];
  auto number = synthetic_number(id, 'C', synthetic_channels_);
  if (!number) return nullptr;
  auto [touched, fresh] = touched_synthetic_.try_emplace(id);
  if (fresh) touched->second.info = synthetic_channel(*number);
  return &touched->second;
}

Channel* Workspace::channel_by_name(const std::string& name) {
  const std::string bare = name.empty() || name[0] != '#' ? name : name.substr(1);
  auto found = std::find_if(channels_.begin(), channels_.end(), [&](const Channel& c) { return c.info.name == bare; });
  return found == channels_.end() ? nullptr : &*found;
}

const Message& Workspace::post(Channel& channel, Draft draft, Ts at) {
  Message message;
  message.ts = at;
  while (channel.messages.count(message.ts)) ++message.ts;
  message.user = std::move(draft.user);
  message.bot_id = std::move(draft.bot_id);
  message.app_id = std::move(draft.app_id);
  message.username = std::move(draft.username);
  message.bot_name = std::move(draft.bot_name);
  message.subtype = std::move(draft.subtype);
  message.text = std::move(draft.text);
  message.metadata = std::move(draft.metadata);
  message.blocks = std::move(draft.blocks);
  message.attachments = std::move(draft.attachments);
  message.files = std::move(draft.files);
  message.broadcast = draft.broadcast;
  if (Message* parent = draft.thread_ts ? channel.find(draft.thread_ts) : nullptr) {
    parent->thread_ts = parent->ts;
    message.thread_ts = parent->ts;
    message.parent_user_id = parent->user;
    channel.threads[parent->ts].insert(message.ts);
  }
  const std::string marker = marker_of(message.metadata);
  if (!marker.empty()) ++markers_[marker].posted;
  const Ts ts = message.ts;
  return channel.messages.emplace(ts, std::move(message)).first->second;
}

void Workspace::edit(Message& message, std::string text, const std::string& user, Ts at) {
  message.text = std::move(text);
  message.edited = Edit{user, at};
}

void Workspace::erase(Channel& channel, Ts ts) {
  Message& message = channel.messages.at(ts);
  const std::string marker = marker_of(message.metadata);
  if (!marker.empty()) ++markers_[marker].deleted;
  if (message.is_reply()) {
    channel.threads[message.thread_ts].erase(ts);
    if (channel.threads[message.thread_ts].empty()) {
      channel.threads.erase(message.thread_ts);
      Message* parent = channel.find(message.thread_ts);
      if (parent && parent->tombstone)
        channel.messages.erase(parent->ts);
      else if (parent)
        parent->thread_ts = 0;
    }
  } else if (channel.threads.count(ts)) {
    Message grave;
    grave.ts = grave.thread_ts = ts;
    grave.user = "USLACKBOT";
    grave.text = "This message was deleted.";
    grave.tombstone = true;
    message = std::move(grave);
    return;
  }
  channel.messages.erase(ts);
}

bool Workspace::react(Message& message, const std::string& name, const std::string& user) {
  auto known = std::find_if(message.reactions.begin(), message.reactions.end(),
                            [&](const Reaction& r) { return r.name == name; });
  if (known == message.reactions.end()) known = message.reactions.insert(known, Reaction{name, {}});
  if (std::find(known->users.begin(), known->users.end(), user) != known->users.end()) return false;
  known->users.push_back(user);
  return true;
}

bool Workspace::unreact(Message& message, const std::string& name, const std::string& user) {
  for (auto reaction = message.reactions.begin(); reaction != message.reactions.end(); ++reaction) {
    if (reaction->name != name) continue;
    auto found = std::find(reaction->users.begin(), reaction->users.end(), user);
    if (found == reaction->users.end()) return false;
    reaction->users.erase(found);
    if (reaction->users.empty()) message.reactions.erase(reaction);
    return true;
  }
  return false;
}

}  // namespace krux::test::slack
