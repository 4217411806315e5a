#include "emulators/slack/seed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emulators/common/documents.hpp"
#include "emulators/slack/draft.hpp"
#include "emulators/slack/render.hpp"

namespace krux::test::slack {
namespace {

class Seeder {
 public:
  Seeder(Workspace& workspace, std::int64_t now_ms) : workspace_(workspace), now_ms_(now_ms) {}

  bool run(const rapidjson::Value& document, std::string& problem) {
    const rapidjson::Value* channels = find_member(document, "channels");
    if (channels && channels->IsInt()) return generate(document, problem);
    if (!only_keys(document, {"generate", "large", "users", "channels", "emoji"}, problem)) return false;
    if (const rapidjson::Value* large = find_member(document, "large"); large && !add_large(*large, problem))
      return false;
    if (const rapidjson::Value* rules = find_member(document, "generate"); rules && !generate(*rules, problem))
      return false;
    if (const rapidjson::Value* users = find_member(document, "users")) {
      if (!users->IsArray()) return problem = "users is a list", false;
      for (const auto& user : users->GetArray()) {
        if (!add_user(user, problem)) return false;
      }
    }
    if (const rapidjson::Value* emoji = find_member(document, "emoji"); emoji && emoji->IsArray()) {
      for (const auto& name : emoji->GetArray()) {
        if (name.IsString()) workspace_.custom_emoji.insert(name.GetString());
      }
    }
    if (!channels) return true;
    if (!channels->IsArray()) return problem = "channels is a list, or a number in a generator", false;
    for (const auto& channel : channels->GetArray()) {
      if (!add_channel(channel, problem)) return false;
    }
    return true;
  }

  void report(JsonOut& out) const {
    out.array("channels");
    for (const std::string& id : channel_ids_) out.value(id);
    out.end_array().array("users");
    for (const std::string& id : user_ids_) out.value(id);
    out.end_array().field("messages", messages_);
  }

 private:
  bool add_large(const rapidjson::Value& large, std::string& problem) {
    if (!typed_keys(large, {}, {"channels", "users", "member_channels"}, problem)) return false;
    const auto count = [&](const char* key) {
      return static_cast<std::size_t>(std::clamp<std::int64_t>(number_or(large, key), 0, 999999999));
    };
    workspace_.set_synthetic(count("channels"), count("users"), count("member_channels"));
    return true;
  }

  bool add_user(const rapidjson::Value& user, std::string& problem) {
    if (!only_keys(user, {"id", "name", "real_name", "display_name", "is_bot", "deleted"}, problem)) return false;
    User added;
    added.id = text_or(user, "id");
    added.name = text_or(user, "name", added.id);
    added.real_name = text_or(user, "real_name", added.name);
    added.display_name = text_or(user, "display_name", added.name);
    added.is_bot = flag_or(user, "is_bot");
    added.deleted = flag_or(user, "deleted");
    if (added.id.empty()) return problem = "a user needs an id", false;
    user_ids_.push_back(added.id);
    workspace_.add_user(std::move(added));
    return true;
  }

  bool add_channel(const rapidjson::Value& document, std::string& problem) {
    if (!only_keys(document,
                   {"id", "name", "topic", "purpose", "creator", "type", "is_archived", "is_member", "num_members",
                    "messages"},
                   problem)) {
      return false;
    }
    ChannelInfo info;
    info.id = text_or(document, "id");
    info.name = text_or(document, "name", info.id);
    info.topic = text_or(document, "topic");
    info.purpose = text_or(document, "purpose");
    info.creator = text_or(document, "creator", workspace_.bot.user_id);
    const auto kind = read_kind(text_or(document, "type", "public_channel"));
    if (info.id.empty() || !kind) return problem = "a channel needs an id and a type that Slack knows", false;
    info.kind = *kind;
    info.is_archived = flag_or(document, "is_archived");
    info.is_member = flag_or(document, "is_member", true);
    info.num_members = static_cast<int>(number_or(document, "num_members", 1));
    channel_ids_.push_back(info.id);
    Channel& channel = workspace_.add_channel(std::move(info));
    const rapidjson::Value* messages = find_member(document, "messages");
    if (!messages) return true;
    if (!messages->IsArray()) return problem = "messages is a list", false;
    for (const auto& message : messages->GetArray()) {
      if (!add_message(channel, message, 0, problem)) return false;
    }
    return true;
  }

  bool add_message(Channel& channel, const rapidjson::Value& document, Ts parent, std::string& problem) {
    std::vector<const char*> keys = {"ts", "at_ms", "reactions", "replies"};
    keys.insert(keys.end(), draft_keys().begin(), draft_keys().end());
    if (!only_keys(document, keys, problem)) return false;
    Draft draft = read_draft(workspace_, document, workspace_.bot.user_id);
    draft.thread_ts = parent;
    const auto ts = parse_ts(text_or(document, "ts"));
    const Ts at = ts ? *ts : number_or(document, "at_ms", now_ms_) * 1000;
    const Ts posted = workspace_.post(channel, std::move(draft), at).ts;
    ++messages_;
    if (const rapidjson::Value* reactions = find_member(document, "reactions"); reactions && reactions->IsArray()) {
      for (const auto& reaction : reactions->GetArray()) add_reaction(*channel.find(posted), reaction);
    }
    const rapidjson::Value* replies = find_member(document, "replies");
    if (!replies || !replies->IsArray()) return true;
    for (const auto& reply : replies->GetArray()) {
      if (!add_message(channel, reply, posted, problem)) return false;
    }
    return true;
  }

  void add_reaction(Message& message, const rapidjson::Value& reaction) {
    const rapidjson::Value* users = find_member(reaction, "users");
    if (!users || !users->IsArray()) return;
    for (const auto& user : users->GetArray()) {
      if (user.IsString()) workspace_.react(message, text_or(reaction, "name"), user.GetString());
    }
  }

  // Regular content, the same for the same numbers: message i of channel c is by user i modulo their number.
  bool generate(const rapidjson::Value& rules, std::string& problem) {
    if (!only_keys(rules,
                   {"channels", "users", "messages_per_channel", "threads_per_channel", "replies_per_thread",
                    "spacing_ms", "reactions"},
                   problem)) {
      return false;
    }
    const std::int64_t users = number_or(rules, "users", 5), channels = number_or(rules, "channels", 3);
    for (std::int64_t i = 0; i < users; ++i) {
      const std::string name = fmt::format("person{}", i);
      user_ids_.push_back(fmt::format("U0GEN{:05}", i));
      workspace_.add_user({user_ids_.back(), name, fmt::format("Person {}", i), name});
    }
    for (std::int64_t c = 0; c < channels; ++c) generate_channel(rules, c, users);
    return true;
  }

  void generate_channel(const rapidjson::Value& rules, std::int64_t number, std::int64_t users) {
    const std::int64_t count = number_or(rules, "messages_per_channel", 40);
    const std::int64_t threads = number_or(rules, "threads_per_channel", 0);
    const std::int64_t spacing = number_or(rules, "spacing_ms", 60000);
    ChannelInfo info;
    info.id = fmt::format("C0GEN{:05}", number);
    info.name = fmt::format("team-{}", number);
    info.topic = fmt::format("What team {} talks about", number);
    info.creator = workspace_.bot.user_id;
    info.is_general = number == 0;
    info.num_members = static_cast<int>(users) + 1;
    channel_ids_.push_back(info.id);
    Channel& channel = workspace_.add_channel(std::move(info));
    for (std::int64_t i = 0; i < count; ++i) {
      const Ts at = (now_ms_ - (count - i) * spacing) * 1000 + number;
      const std::string user = users ? fmt::format("U0GEN{:05}", i % users) : workspace_.bot.user_id;
      const std::string text = fmt::format("Message {} of team {}: the {} meeting moves to room {}", i, number,
                                           i % 2 ? "weekly" : "planning", i % 7);
      const Ts ts = workspace_.post(channel, make_draft(user, text, 0), at).ts;
      ++messages_;
      if (flag_or(rules, "reactions") && i % 10 == 0) workspace_.react(*channel.find(ts), "tada", user);
      if (i >= threads) continue;
      for (std::int64_t r = 0; r < number_or(rules, "replies_per_thread", 3); ++r) {
        const Ts reply_at = at + (r + 1) * spacing * 10;
        workspace_.post(channel, make_draft(user, fmt::format("Reply {} to message {} of team {}", r, i, number), ts),
                        reply_at);
        ++messages_;
      }
    }
  }

  static Draft make_draft(const std::string& user, std::string text, Ts thread_ts) {
    Draft draft;
    draft.user = user;
    draft.text = std::move(text);
    draft.thread_ts = thread_ts;
    return draft;
  }

  Workspace& workspace_;
  std::int64_t now_ms_;
  std::vector<std::string> channel_ids_, user_ids_;
  std::size_t messages_ = 0;
};

}  // namespace

std::optional<ChannelKind> read_kind(const std::string& name) {
  for (int kind = 0; kind < 4; ++kind) {
    if (name == type_name(static_cast<ChannelKind>(kind))) return static_cast<ChannelKind>(kind);
  }
  return std::nullopt;
}

bool seed(Workspace& workspace, const rapidjson::Value& document, std::int64_t now_ms, JsonOut& out,
          std::string& problem) {
  Seeder seeder(workspace, now_ms);
  if (!seeder.run(document, problem)) return false;
  seeder.report(out);
  return true;
}

}  // namespace krux::test::slack
