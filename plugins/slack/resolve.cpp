#include "resolve.hpp"

#include <kruxos/kit/text.hpp>
#include <map>

#include "model.hpp"
#include "timestamp.hpp"

namespace slack {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;

std::string lower_name(std::string_view name) {
  if (!name.empty() && name.front() == '#') name.remove_prefix(1);
  return lower_ascii(name);
}

using Texts = std::map<std::string, std::string, std::less<>>;

Texts texts_of(std::string_view operation, std::string_view params_json) {
  const auto params = parse(params_json);
  if (params.HasParseError() || !params.IsObject()) throw invalid("The arguments are not one JSON object.");
  Texts texts;
  for (const auto& item : params.GetObject()) {
    const std::string name(item.name.GetString(), item.name.GetStringLength());
    if (!item.value.IsString()) throw invalid(name + " of " + std::string(operation) + " must be a text.");
    texts[name] = std::string(item.value.GetString(), item.value.GetStringLength());
  }
  return texts;
}

void resolve_channel(const kruxos::Reader& reader, std::string& channel) {
  const auto id = find_channel(reader, channel);
  if (!id.empty()) {
    channel = id;
  } else if (!is_id(channel, "CGD")) {
    throw invalid("There is no channel \"" + channel + "\": slack.channels lists them by name and id.");
  }
}

/// Slack wants the thread's first message; one of its replies does not open it.
void resolve_thread(const kruxos::Reader& reader, const std::string& channel, std::string& thread_ts) {
  const auto json = reader.get(kMessages, channel + "/" + thread_ts);
  const auto message = json ? message_from_record(*json) : std::nullopt;
  if (message && message->is_reply()) thread_ts = message->thread_ts;
}

/// What a message is named by beside message_id and channel; nothing where the operation is about none.
const char* timestamp_input(std::string_view operation) {
  if (operation == "slack.reply") return "thread_ts";
  return operation == "slack.react" || operation == "slack.remove_react" ? "ts" : nullptr;
}

/// Two names of one message may be given, of two messages not.
void agree(Texts& texts, const char* name, const std::string& value) {
  auto& there = texts[name];
  if (!there.empty() && there != value) {
    throw invalid("The message is named in two ways, and they differ in " + std::string(name) + " (\"" + value +
                  "\" and \"" + there + "\"): give message_id alone.");
  }
  there = value;
}

/// Makes channel and timestamp of what names a message: these, or its id, which stands for them. So it is the same
/// write whichever way it was named.
class MessageNaming {
 public:
  MessageNaming(const kruxos::Reader& reader, Texts& texts, const char* ts_name)
      : reader_(reader), texts_(texts), ts_name_(ts_name) {}

  void resolve() {
    std::optional<MessageId> named;
    if (const auto id = texts_.find("message_id"); id != texts_.end()) {
      named = by_id("message_id", id->second);
      texts_.erase("message_id");
      // A timestamp beside it is one of the same channel, unless another one is named.
      texts_.try_emplace("channel", named->channel);
    }
    if (const auto ts = texts_.find(ts_name_); ts != texts_.end()) by_timestamp(ts->second);
    if (named) take(*named);
    if (!texts_.contains("channel") || !texts_.contains(ts_name_)) {
      throw invalid("Which message? Give message_id, or channel and " + std::string(ts_name_) + ".");
    }
  }

 private:
  /// Agents copy the id that a search shows into this place too.
  void by_timestamp(const std::string& text) {
    if (text.find('/') != std::string::npos) return take(by_id(ts_name_, text));
    const auto at = micros(text);
    if (!at) {
      throw invalid(std::string(ts_name_) +
                    " is a message's timestamp, such as 1700000001.000001; the id that slack.search gives goes into "
                    "message_id.");
    }
    const auto channel = texts_.find("channel");
    if (channel != texts_.end()) texts_[ts_name_] = in_thread({channel->second, from_micros(*at)}).ts;
  }

  MessageId by_id(const std::string& name, const std::string& text) const {
    auto id = parse_message_id(text);
    if (!id) {
      throw invalid(name +
                    " is \"<channel id>/<timestamp>\", such as C01234567/1700000001.000001; slack.search and "
                    "slack.read give it as id.");
    }
    resolve_channel(reader_, id->channel);
    return in_thread(std::move(*id));
  }

  MessageId in_thread(MessageId id) const {
    if (std::string_view(ts_name_) == "thread_ts") resolve_thread(reader_, id.channel, id.ts);
    return id;
  }

  void take(const MessageId& id) {
    // A timestamp that is an id has been read, and is no second name.
    if (auto& ts = texts_[ts_name_]; ts.find('/') != std::string::npos) ts.clear();
    agree(texts_, "channel", id.channel);
    agree(texts_, ts_name_, id.ts);
  }

  const kruxos::Reader& reader_;
  Texts& texts_;
  const char* ts_name_;
};

}  // namespace

ProxyError invalid(const std::string& message) {
  return ProxyError(ErrorKind::kInvalid, message).type("InvalidInput").no_effect();
}

std::string find_channel(const kruxos::Reader& reader, std::string_view channel) {
  if (reader.get(kChannels, channel)) return std::string(channel);
  kruxos::Query query;
  query.collection = kChannels;
  query.where = kruxos::field_eq("name", lower_name(channel));
  query.limit = 1;
  query.count_limit = 1;
  std::string id;
  reader.query(query, [&](const kruxos::Row& row) {
    id = row.id;
    return false;
  });
  return id;
}

std::string resolve_params(const kruxos::Reader& reader, std::string_view operation, std::string_view params_json) {
  auto texts = texts_of(operation, params_json);
  const auto channel = texts.find("channel");
  if (channel != texts.end()) resolve_channel(reader, channel->second);
  if (const auto* ts_name = timestamp_input(operation)) MessageNaming(reader, texts, ts_name).resolve();
  const auto reaction = texts.find("reaction");
  if (reaction != texts.end()) {
    auto& name = reaction->second;
    if (name.size() > 2 && name.front() == ':' && name.back() == ':') name = name.substr(1, name.size() - 2);
  }
  ObjectWriter writer;
  for (const auto& [name, value] : texts) writer.text(name, value);
  return writer.done();
}

}  // namespace slack
