#include "read.hpp"

#include <algorithm>
#include <kruxos/kit/search.hpp>
#include <map>
#include <vector>

#include "answers.hpp"
#include "model.hpp"
#include "resolve.hpp"
#include "timestamp.hpp"

namespace slack {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;

// More people than this fit a name: the condition would be longer than it is useful.
constexpr std::uint32_t kMostUsers = 200;
constexpr std::size_t kLargestThread = 2 << 20;
constexpr std::uint32_t kMostReplies = 1000;

/// Names of users and channels, looked up once each.
class Names {
 public:
  explicit Names(const kruxos::Reader& reader) : reader_(reader) {}

  /// As a JSON string; the id itself where the replica has no such record.
  const std::string& channel(std::string_view id) { return name(kChannels, channels_, id); }
  const std::string& user(std::string_view id) { return name(kUsers, users_, id); }

 private:
  using Known = std::map<std::string, std::string, std::less<>>;
  const std::string& name(const char* collection, Known& known, std::string_view id) {
    if (const auto at = known.find(id); at != known.end()) return at->second;
    std::string found(id);
    if (const auto json = id.empty() ? std::nullopt : reader_.get(collection, id)) {
      const auto document = parse(*json);
      if (!document.HasParseError()) found = text_of(document, "name", id);
    }
    return known.emplace(std::string(id), quoted(found)).first->second;
  }
  const kruxos::Reader& reader_;
  Known channels_, users_;
};

/// Writes records of messages as agents get them.
class MessageWriter {
 public:
  explicit MessageWriter(const kruxos::Reader& reader) : names_(reader) {}

  void add(const kruxos::Row& row, std::string& out) {
    const auto ids = ids_of(row.json);
    append_message(row.json, {names_.user(ids.user), names_.channel(ids.channel)}, out);
  }
  /// Beside a message of the same channel and thread.
  void add_reply(const kruxos::Row& row, std::string& out) {
    append_reply(row.json, names_.user(ids_of(row.json).user), out);
  }

 private:
  Names names_;
};

/// A condition for the one user whose id it is, or those whose name contains `user`.
kruxos::Condition from_user(const kruxos::Reader& reader, std::string_view user) {
  if (reader.get(kUsers, user)) return kruxos::field_eq("user_id", std::string(user));
  kruxos::Query query;
  query.collection = kUsers;
  query.where = kruxos::contains_text(std::string(user));
  query.limit = kMostUsers + 1;
  query.count_limit = 1;
  std::vector<kruxos::Condition> any;
  const auto people = reader.query(query, [&](const kruxos::Row& row) {
    any.push_back(kruxos::field_eq("user_id", std::string(row.id)));
    return true;
  });
  if (people.incomplete) {
    throw invalid("Looking for users whose names contain \"" + std::string(user) +
                  "\" took too long: give more of the name, or an id.");
  }
  if (any.size() > kMostUsers) {
    throw invalid("More than " + std::to_string(kMostUsers) + " users' names contain \"" + std::string(user) +
                  "\": give more of the name, or an id.");
  }
  // Messages of bots and of other workspaces' people carry ids that the list of users does not have.
  if (any.empty() && is_id(user, "UWB")) return kruxos::field_eq("user_id", std::string(user));
  if (any.size() == 1) return any.front();
  return kruxos::any_of(std::move(any));
}

/// Kept within what a query takes, though the host has checked it.
std::uint32_t count_of(const Json& params, std::string_view name, std::int64_t otherwise, std::int64_t most) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(integer_of(params, name, otherwise), 0, most));
}

std::int64_t moment(const Json& params, const char* name, RangeEnd end, std::int64_t otherwise) {
  const auto text = text_of(params, name);
  if (text.empty()) return otherwise;
  if (const auto ms = parse_moment(text, end)) return *ms;
  throw invalid(std::string(name) +
                " is not a time: use RFC 3339, such as 2026-11-21T09:30:00Z, or a Slack timestamp.");
}

std::string search(const kruxos::Reader& reader, const Json& params) {
  kruxos::Query query;
  query.collection = kMessages;
  if (const auto channel = text_of(params, "channel"); !channel.empty()) {
    const auto id = find_channel(reader, channel);
    if (id.empty())
      throw invalid("There is no channel \"" + std::string(channel) + "\" in the replica: slack.channels lists them.");
    query.where.children.push_back(kruxos::field_eq("channel_id", id));
  }
  if (const auto user = text_of(params, "user"); !user.empty()) query.where.children.push_back(from_user(reader, user));
  if (const auto text = text_of(params, "query"); !text.empty()) {
    query.where.children.push_back(contains_words(text));
  }
  query.from_ms = moment(params, "from_date", RangeEnd::kFirst, query.from_ms);
  query.to_ms = moment(params, "to_date", RangeEnd::kLast, query.to_ms);
  query.limit = count_of(params, "limit", 20, 1000);
  query.offset = count_of(params, "offset", 0, 1'000'000'000);
  MessageWriter writer(reader);
  PageWriter page("messages");
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    writer.add(row, page.row());
    return page.has_room();
  });
  return page.done(result, &query);
}

/// Of a thread, without the message that opens it; what follows them is said where more do.
std::string replies_json(const kruxos::Reader& reader, const std::string& channel, const std::string& thread_ts,
                         const Json& params, MessageWriter& writer) {
  const auto parent = channel + "/" + thread_ts;
  // The oldest of the thread's messages, which carries its own timestamp as the thread's where it has replies.
  const auto opening = reader.get(kMessages, parent);
  const auto opens = opening ? message_from_record(*opening) : std::nullopt;
  const std::uint32_t before = opens && !opens->thread_ts.empty() ? 1 : 0;
  const auto offset = count_of(params, "offset", 0, 1'000'000'000);
  kruxos::Query query;
  query.collection = kMessages;
  query.where = kruxos::all_of({kruxos::field_eq("channel_id", channel), kruxos::field_eq("thread_ts", thread_ts)});
  query.descending = false;
  query.limit = count_of(params, "limit", 100, kMostReplies);
  query.offset = offset + before;
  query.count_limit = 1'000'000;
  std::string out = "[";
  std::uint32_t shown = 0;
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    if (out.back() != '[') out += ',';
    writer.add_reply(row, out);
    ++shown;
    return out.size() < kLargestThread;
  });
  const auto total = result.total - std::min<std::uint64_t>(result.total, before);
  out.append("],\"total_replies\":").append(std::to_string(total));
  if (offset + shown < total) out.append(",\"next_offset\":").append(std::to_string(offset + shown));
  if (result.incomplete || result.total_is_lower_bound) out += ",\"thread_replies_incomplete\":true";
  return out;
}

std::string read_message(const kruxos::Reader& reader, const Json& params) {
  std::string id(text_of(params, "message_id"));
  if (const auto parsed = parse_message_id(id)) {
    id = parsed->channel + "/" + parsed->ts;
  } else {
    throw invalid(
        "message_id is \"<channel id>/<timestamp>\", such as C01234567/1700000001.000001; slack.search gives it as "
        "id.");
  }
  MessageWriter writer(reader);
  std::string out = "{\"message\":", thread_ts;
  const bool found = reader.get(kMessages, id, [&](const kruxos::Row& row) {
    const auto message = message_from_record(row.json);
    if (message) thread_ts = message->thread_ts.empty() ? message->ts : message->thread_ts;
    writer.add(row, out);
    return true;
  });
  if (!found) {
    throw ProxyError(ErrorKind::kNotFound,
                     "There is no message " + id +
                         " in the replica; it may be newer than the last sync, older than what is kept, or deleted.")
        .type("MessageNotFound")
        .no_effect();
  }
  const auto channel = id.substr(0, id.find('/'));
  return out + ",\"thread_replies\":" + replies_json(reader, channel, thread_ts, params, writer) + "}";
}

std::string list_channels(const kruxos::Reader& reader, const Json& params) {
  kruxos::Query query;
  query.collection = kChannels;
  query.descending = false;
  query.limit = count_of(params, "limit", 100, 1000);
  query.offset = count_of(params, "offset", 0, 1'000'000'000);
  query.count_limit = 1'000'000;
  if (const auto name = text_of(params, "name_contains"); !name.empty())
    query.where = kruxos::contains_text(std::string(name));
  PageWriter page("channels", 0);
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    append_channel(row.json, page.row());
    return true;
  });
  return page.done(result, &query);
}

}  // namespace

std::string read_capability(const kruxos::Reader& reader, std::string_view capability, std::string_view params_json) {
  const auto params = parse(params_json);
  if (params.HasParseError() || !params.IsObject()) throw invalid("The arguments are not one JSON object.");
  if (capability == "slack.search") return search(reader, params);
  if (capability == "slack.read") return read_message(reader, params);
  if (capability == "slack.channels") return list_channels(reader, params);
  throw ProxyError(ErrorKind::kUnsupported, "This adapter does not answer " + std::string(capability) + ".");
}

}  // namespace slack
