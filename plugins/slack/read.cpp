#include "read.hpp"

#include <algorithm>
#include <kruxos/kit/search.hpp>
#include <map>
#include <vector>

#include "answers.hpp"
#include "model.hpp"
#include "query.hpp"
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
    const auto begin = out.size();
    append_message(row.json, {author(ids), names_.channel(ids.channel)}, out);
    name_mentions(out, begin);
  }
  /// Beside a message of the same channel and thread.
  void add_reply(const kruxos::Row& row, std::string& out) {
    const auto begin = out.size();
    append_reply(row.json, author(ids_of(row.json)), out);
    name_mentions(out, begin);
  }

 private:
  std::string_view author(const MessageNames& ids) {
    return ids.username.empty() ? std::string_view(names_.user(ids.user)) : ids.username;
  }

  /// <@U1> and <#C1> become @name and #name, where the replica knows one. Behind `begin` stands a message.
  void name_mentions(std::string& out, std::size_t begin) {
    for (auto at = out.find('<', begin); at != std::string::npos; at = out.find('<', at + 1)) {
      const auto end = out.find('>', at);
      if (end == std::string::npos) return;
      const auto sign = out[at + 1];
      const auto id = std::string_view(out).substr(at + 2, end - at - 2);
      if ((sign != '@' || !is_id(id, "UW")) && (sign != '#' || !is_id(id, "CG"))) continue;
      const std::string& name = sign == '@' ? names_.user(id) : names_.channel(id);
      const auto bare = std::string_view(name).substr(1, name.size() - 2);
      if (bare != id) out.replace(at, end - at + 1, sign + std::string(bare));
    }
  }

  Names names_;
};

/// Adds whose records `where` finds among users and authors; false where the time was not enough for all of them.
bool add_authors(const kruxos::Reader& reader, kruxos::Condition where, std::string_view asked,
                 std::vector<kruxos::Condition>& any) {
  kruxos::Query query;
  query.collection = kUsers;
  query.where = std::move(where);
  query.limit = kMostUsers + 1;
  query.count_limit = 1;
  const auto people = reader.query(query, [&](const kruxos::Row& row) {
    any.push_back(kruxos::field_eq("user_id", std::string(row.id)));
    return true;
  });
  if (any.size() > kMostUsers) {
    throw invalid("More than " + std::to_string(kMostUsers) + " users' names contain \"" + std::string(asked) +
                  "\": give more of the name, or an id.");
  }
  return !people.incomplete;
}

/// A condition for the one user whose id it is, under whatever names, or those whose name contains `user`.
kruxos::Condition from_user(const kruxos::Reader& reader, std::string_view user) {
  std::vector<kruxos::Condition> any;
  const bool is_known = reader.get(kUsers, user).has_value();
  if (!is_known && !add_authors(reader, kruxos::contains_text(std::string(user)), user, any)) {
    throw invalid("Looking for users whose names contain \"" + std::string(user) +
                  "\" took too long: give more of the name, or an id.");
  }
  // Messages of bots and of other workspaces' people carry ids that the list of users does not have.
  if (is_known || (any.empty() && is_id(user, "UWB"))) {
    any.push_back(kruxos::field_eq("user_id", std::string(user)));
    add_authors(reader, kruxos::field_eq("name", std::string(user)), user, any);
  }
  if (any.size() == 1) return any.front();
  return kruxos::any_of(std::move(any));
}

/// Kept within what a query takes, though the host has checked it.
std::uint32_t count_of(const Json& params, std::string_view name, std::int64_t otherwise, std::int64_t most) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(integer_of(params, name, otherwise), 0, most));
}

/// An end of a range, in milliseconds for the replica, and in microseconds where a message's timestamp says it so.
struct Moment {
  std::int64_t ms;
  std::optional<std::int64_t> exact;
};

Moment moment(const Json& params, const char* name, RangeEnd end, std::int64_t otherwise) {
  const auto text = text_of(params, name);
  if (text.empty()) return {otherwise, std::nullopt};
  if (const auto ms = parse_moment(text, end)) return {*ms, micros(text)};
  throw invalid(std::string(name) +
                " is not a time: use RFC 3339, such as 2026-11-21T09:30:00Z, or a Slack timestamp.");
}

/// Which messages of the ends' own milliseconds lie outside: the replica's ranges are of milliseconds.
class ExactRange {
 public:
  ExactRange(const Json& params, kruxos::Query& query)
      : from_(moment(params, "from_date", RangeEnd::kFirst, query.from_ms)),
        to_(moment(params, "to_date", RangeEnd::kLast, query.to_ms)) {
    query.from_ms = from_.ms;
    query.to_ms = to_.ms;
  }

  bool is_before(std::string_view id) const { return from_.exact && at(id) < *from_.exact; }
  bool is_behind(std::string_view id) const { return to_.exact && at(id) > *to_.exact; }

  /// Counts what the query finds of them: the newest are passed over, and none of them is counted.
  void count(const kruxos::Reader& reader, const kruxos::Query& query) {
    const auto outside = [&](const Moment& end) { return outside_at(reader, query, end); };
    if (to_.exact) behind_ = outside(to_).second;
    if (from_.exact) before_ = outside(from_).first;
  }
  std::uint32_t behind() const { return behind_; }
  std::uint64_t within(std::uint64_t total) const {
    return total - std::min<std::uint64_t>(total, std::uint64_t{before_} + behind_);
  }

 private:
  static std::int64_t at(std::string_view id) { return micros(id.substr(id.find('/') + 1)).value_or(0); }

  std::pair<std::uint32_t, std::uint32_t> outside_at(const kruxos::Reader& reader, kruxos::Query query,
                                                     const Moment& end) const {
    constexpr std::uint32_t most = 10'000;
    query.from_ms = query.to_ms = end.ms;
    query.limit = most;
    query.offset = 0;
    query.count_limit = 1;
    std::pair<std::uint32_t, std::uint32_t> out{0, 0};
    reader.query(query, [&](const kruxos::Row& row) {
      out.first += is_before(row.id);
      out.second += is_behind(row.id);
      return true;
    });
    return out;
  }

  Moment from_, to_;
  std::uint32_t before_ = 0, behind_ = 0;
};

/// What channel, author and words of the arguments ask for.
kruxos::Condition asked_for(const kruxos::Reader& reader, const Json& params) {
  auto where = kruxos::all_of({});
  if (const auto channel = text_of(params, "channel"); !channel.empty()) {
    const auto id = find_channel(reader, channel);
    if (id.empty())
      throw invalid("There is no channel \"" + std::string(channel) + "\" in the replica: slack.channels lists them.");
    where.children.push_back(kruxos::field_eq("channel_id", id));
  }
  if (const auto user = text_of(params, "user"); !user.empty()) where.children.push_back(from_user(reader, user));
  if (const auto text = text_of(params, "query"); !text.empty()) where.children.push_back(words_condition(text));
  return where;
}

std::string search(const kruxos::Reader& reader, const Json& params) {
  kruxos::Query query;
  query.collection = kMessages;
  query.where = asked_for(reader, params);
  ExactRange range(params, query);
  range.count(reader, query);
  query.limit = count_of(params, "limit", 20, 1000);
  const auto offset = count_of(params, "offset", 0, 1'000'000'000);
  query.offset = offset + range.behind();
  MessageWriter writer(reader);
  PageWriter page("messages");
  auto result = reader.query(query, [&](const kruxos::Row& row) {
    if (range.is_before(row.id)) return false;
    writer.add(row, page.row());
    return page.has_room();
  });
  query.offset = offset;
  result.total = range.within(result.total);
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
