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
  for (const char* name : {"ts", "thread_ts"}) {
    const auto at = texts.find(name);
    if (at != texts.end() && !micros(at->second)) {
      throw invalid(std::string(name) + " is a message's timestamp, such as 1700000001.000001.");
    }
  }
  const auto thread = texts.find("thread_ts");
  if (thread != texts.end() && channel != texts.end()) resolve_thread(reader, channel->second, thread->second);
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
