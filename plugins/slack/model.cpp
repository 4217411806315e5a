#include "model.hpp"

#include <algorithm>
#include <kruxos/kit/text.hpp>
#include <limits>

#include "blocks.hpp"
#include "markup.hpp"
#include "timestamp.hpp"

namespace slack {
namespace {

using kruxos::FieldType;

std::string reactions_json(const std::vector<Message::Reaction>& reactions) {
  ArrayWriter out;
  for (const auto& reaction : reactions) {
    const auto users = quoted_list(reaction.users);
    out.raw(ObjectWriter().text("name", reaction.name).integer("count", reaction.count).raw("users", users).done());
  }
  return out.done();
}

std::vector<Message::Reaction> reactions_of(const Json& message) {
  std::vector<Message::Reaction> out;
  const auto* list = array_of(message, "reactions");
  if (!list) return out;
  for (const auto& item : list->GetArray()) {
    const std::string name(text_of(item, "name"));
    if (!name.empty()) out.push_back({name, integer_of(item, "count"), texts_of(item, "users")});
  }
  return out;
}

std::string files_json(const std::vector<Message::File>& files) {
  ArrayWriter out;
  for (const auto& file : files) {
    ObjectWriter one;
    one.text("id", file.id).text("name", file.name);
    if (!file.title.empty()) one.text("title", file.title);
    out.raw(one.text("type", file.type).integer("size", file.size).done());
  }
  return out.done();
}

/// Of Slack's answer, or of a record.
std::vector<Message::File> files_of(const Json& message) {
  std::vector<Message::File> out;
  const auto* list = array_of(message, "files");
  if (!list) return out;
  for (const auto& item : list->GetArray()) {
    Message::File file{
        std::string(text_of(item, "id")), std::string(text_of(item, "name")), std::string(text_of(item, "title")),
        std::string(text_of(item, "mimetype", text_of(item, "type", text_of(item, "mode")))), integer_of(item, "size")};
    if (file.id.empty() && file.name.empty()) continue;
    if (file.title == file.name) file.title.clear();
    out.push_back(std::move(file));
  }
  return out;
}

EmojiCharacters emoji_of(const Json& record) {
  EmojiCharacters out;
  const auto* names = member(record, "emoji");
  if (!names || !names->IsObject()) return out;
  for (const auto& one : names->GetObject()) {
    if (one.value.IsString()) out.emplace(one.name.GetString(), one.value.GetString());
  }
  return out;
}

std::string emoji_json(const EmojiCharacters& names) {
  ObjectWriter out;
  for (const auto& [name, characters] : names) out.text(name, characters);
  return out.done();
}

/// What agents are shown: the message's own text, then what else it says.
std::string whole_text(const Message& m) {
  auto text = shown_text(m.text);
  if (!text.empty() && !m.more.empty()) text += '\n';
  return text + m.more;
}

/// What people see and type: labels of links, then the addresses behind them, emoji as names and as characters, names
/// of files and of the people who are mentioned.
std::string found_text(const Message& m) {
  constexpr char separator = '\x1f';
  std::vector<std::string> hidden;
  auto seen = seen_text(m.text, hidden);
  if (!m.more.empty()) seen += (seen.empty() ? "" : "\n") + m.more;
  auto out = seen;
  const auto add = [&](std::string_view part) {
    if (!part.empty()) out.append(1, separator).append(part);
  };
  if (const auto characters = with_emoji(seen, m.emoji); characters != seen) add(characters);
  add(m.unmarked);
  for (const auto& address : hidden) add(address);
  for (const auto& name : m.mentions) add("@" + name);
  for (const auto& file : m.files) {
    add(file.name);
    add(file.title);
  }
  return out;
}

}  // namespace

std::vector<kruxos::Collection> collections() {
  return {
      {kChannels,
       1,
       kruxos::Order::kKey,
       true,
       {{"name", FieldType::kText}, {"is_member", FieldType::kInteger}, {"is_archived", FieldType::kInteger}}},
      {kUsers, 1, kruxos::Order::kKey, true, {{"name", FieldType::kText}}},
      {kMessages,
       1,
       kruxos::Order::kTime,
       true,
       {{"channel_id", FieldType::kText},
        {"user_id", FieldType::kText},
        {"thread_ts", FieldType::kText},
        {"active_thread", FieldType::kText},
        {"replies_pending", FieldType::kInteger}}},
  };
}

bool is_id(std::string_view text, std::string_view kinds) {
  if (text.size() < 9 || text.size() > 32 || kinds.find(text.front()) == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

std::optional<kruxos::Record> channel_record(const Json& channel, std::int64_t generation) {
  const std::string id(text_of(channel, "id"));
  if (id.empty() || id.find('/') != std::string::npos) return std::nullopt;
  // A direct message has no name, only the user it is with.
  const std::string name(text_of(channel, "name", text_of(channel, "user", id)));
  const auto* topic = member(channel, "topic");
  kruxos::Record record;
  record.collection = kChannels;
  record.id = id;
  record.json = ObjectWriter()
                    .text("id", id)
                    .text("name", name)
                    .text("topic", topic ? text_of(*topic, "value") : "")
                    .integer("member_count", integer_of(channel, "num_members"))
                    .flag("is_private", flag_of(channel, "is_private"))
                    .flag("is_member", flag_of(channel, "is_member"))
                    .flag("is_archived", flag_of(channel, "is_archived"))
                    .done();
  record.text = name;
  record.order_key = lower_ascii(name);
  record.generation = generation;
  record.fields = {{"name", lower_ascii(name)},
                   {"is_member", std::int64_t{flag_of(channel, "is_member")}},
                   {"is_archived", std::int64_t{flag_of(channel, "is_archived")}}};
  return record;
}

std::optional<kruxos::Record> user_record(const Json& user, std::int64_t generation) {
  const std::string id(text_of(user, "id"));
  if (id.empty()) return std::nullopt;
  const std::string name(text_of(user, "name", id));
  const auto* profile = member(user, "profile");
  const std::string real_name(text_of(user, "real_name", profile ? text_of(*profile, "real_name") : ""));
  const std::string display(profile ? text_of(*profile, "display_name") : "");
  kruxos::Record record;
  record.collection = kUsers;
  record.id = id;
  record.json = ObjectWriter()
                    .text("id", id)
                    .text("name", name)
                    .text("real_name", real_name)
                    .text("display_name", display)
                    .done();
  record.text = name + "\x1f" + real_name + "\x1f" + display;
  record.order_key = lower_ascii(name);
  record.generation = generation;
  record.fields = {{"name", lower_ascii(name)}};
  return record;
}

std::string author_id(std::string_view user, std::string_view username) {
  constexpr std::size_t most_bytes = 500;  // an id has 1024
  std::string id = std::string(user) + "/" + std::string(username);
  cut_text(id, most_bytes);
  return id;
}

std::optional<kruxos::Record> author_record(const Message& m) {
  const bool is_bot = !m.bot_id.empty() && m.user == m.bot_id;
  const auto& name = m.username.empty() && is_bot ? m.bot_name : m.username;
  if (name.empty()) return std::nullopt;
  kruxos::Record record;
  record.collection = kUsers;
  record.id = m.author();
  record.json = ObjectWriter().text("id", record.id).text("name", name).done();
  record.text = name;
  record.order_key = lower_ascii(name).substr(0, 1000);
  record.generation = std::numeric_limits<std::int64_t>::max();
  // By it all names of one poster are found. No user's name has capitals.
  record.fields = {{"name", m.user}};
  return record;
}

std::optional<Message> message_from_slack(const Json& json, std::string_view channel) {
  Message m;
  m.ts = text_of(json, "ts");
  if (!micros(m.ts)) return std::nullopt;
  m.channel = channel;
  m.thread_ts = text_of(json, "thread_ts");
  if (!m.thread_ts.empty() && !micros(m.thread_ts)) m.thread_ts.clear();
  m.user = text_of(json, "user");
  m.bot_id = text_of(json, "bot_id");
  if (m.user.empty()) m.user = m.bot_id;
  m.username = text_of(json, "username");
  if (const auto* profile = member(json, "bot_profile")) m.bot_name = text_of(*profile, "name");
  m.text = text_of(json, "text");
  m.subtype = text_of(json, "subtype");
  m.files = files_of(json);
  if (const auto* edited = member(json, "edited")) m.edited_ts = text_of(*edited, "ts");
  if (!micros(m.edited_ts)) m.edited_ts.clear();
  m.reply_count = integer_of(json, "reply_count");
  m.latest_reply = text_of(json, "latest_reply");
  if (!micros(m.latest_reply)) m.latest_reply.clear();
  m.reactions = reactions_of(json);
  auto blocks = texts_of_blocks(json, shown_text(m.text));
  m.more = std::move(blocks.more);
  m.unmarked = std::move(blocks.unmarked);
  for (auto& [name, characters] : blocks.emoji) {
    if (!is_known_emoji(name) || with_emoji(":" + name + ":", {}) != characters) m.emoji.emplace(name, characters);
  }
  return m;
}

std::optional<Message> message_from_record(std::string_view text) {
  const auto json = parse(text);
  if (json.HasParseError()) return std::nullopt;
  auto m = message_from_slack(json, text_of(json, "channel_id"));
  if (!m) return m;
  m->user = text_of(json, "user_id");
  m->edited_ts = text_of(json, "edited_ts");
  m->replies_pending = flag_of(json, "replies_pending");
  if (const auto* markup = member(json, "markup"); markup && markup->IsString()) {
    // The record's text is what agents read: this one, and behind it what else the message says.
    m->text = text_of(json, "markup");
    const auto own = shown_text(m->text).size();
    const auto whole = text_of(json, "text");
    if (whole.size() > own) m->more = whole.substr(own == 0 ? 0 : own + 1);
  }
  m->unmarked = text_of(json, "unmarked");
  m->emoji = emoji_of(json);
  m->mentions = texts_of(json, "mentions");
  return m;
}

kruxos::Record message_record(const Message& m, std::int64_t generation) {
  // user_id, channel_id and username stand first: the read path takes them without parsing.
  ObjectWriter writer;
  const auto whole = whole_text(m);
  writer.text("user_id", m.user).text("channel_id", m.channel);
  if (!m.username.empty()) writer.text("username", m.username);
  writer.text("id", m.id()).text("ts", m.ts).text("text", whole);
  if (whole != m.text) writer.text("markup", m.text);
  if (!m.unmarked.empty()) writer.text("unmarked", m.unmarked);
  if (!m.emoji.empty()) writer.raw("emoji", emoji_json(m.emoji));
  if (!m.mentions.empty()) writer.raw("mentions", quoted_list(m.mentions));
  if (!m.files.empty()) writer.raw("files", files_json(m.files));
  writer.text("thread_ts", m.thread_ts).raw("reactions", reactions_json(m.reactions));
  if (m.edited_ts.empty()) {
    writer.raw("edited_at", "null");
  } else {
    writer.text("edited_at", format_rfc3339(millis(m.edited_ts))).text("edited_ts", m.edited_ts);
  }
  if (!m.bot_id.empty()) writer.text("bot_id", m.bot_id);
  if (!m.subtype.empty()) writer.text("subtype", m.subtype);
  if (m.has_replies()) writer.integer("reply_count", m.reply_count).text("latest_reply", m.latest_reply);
  if (m.replies_pending) writer.flag("replies_pending", true);

  kruxos::Record record;
  record.collection = kMessages;
  record.id = m.id();
  record.json = writer.done();
  record.text = found_text(m);
  record.order_ms = millis(m.ts);
  record.order_key = fraction(m.ts);
  const bool of_channel = !m.is_reply() || (m.is_broadcast() && m.thread_unknown);
  record.scope = of_channel ? m.channel : m.thread_id();
  record.generation = generation;
  record.fields = {{"channel_id", m.channel}, {"user_id", m.author()}};
  if (!m.thread_ts.empty()) record.fields.emplace_back("thread_ts", m.thread_ts);
  if (m.thread_active) record.fields.emplace_back("active_thread", m.channel);
  if (m.replies_pending) record.fields.emplace_back("replies_pending", std::int64_t{1});
  return record;
}

kruxos::Record timeless_record(const Json& message, std::string_view scope, std::int64_t generation,
                               std::int64_t seen_ms) {
  kruxos::Record record;
  record.collection = kMessages;
  record.id = std::string(scope) + " without a time: " + std::string(text_of(message, "ts"));
  record.order_ms = seen_ms;
  record.scope = scope;
  record.generation = generation;
  return record;
}

std::optional<MessageId> parse_message_id(std::string_view id) {
  const auto slash = id.find('/');
  const auto at = slash == std::string_view::npos || slash == 0 ? std::nullopt : micros(id.substr(slash + 1));
  if (!at) return std::nullopt;
  return MessageId{std::string(id.substr(0, slash)), from_micros(*at)};
}

}  // namespace slack
