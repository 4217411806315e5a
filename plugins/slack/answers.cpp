#include "answers.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "timestamp.hpp"

namespace slack {
namespace {

/// What the sync keeps for itself, or says in Slack's way what stands there in a readable one.
constexpr std::array<std::string_view, 8> kNotShown = {"edited_ts", "latest_reply", "replies_pending", "username",
                                                       "markup",    "unmarked",     "emoji",           "mentions"};
/// What a message and the replies beside it have in common.
constexpr std::array<std::string_view, 2> kOfThread = {"channel_id", "thread_ts"};

/// Behind the text whose opening quotation mark stands at `quote`.
std::size_t text_end(std::string_view json, std::size_t quote) {
  for (auto at = json.find('"', quote + 1); at != std::string_view::npos; at = json.find('"', at + 1)) {
    auto before = at;
    while (json[before - 1] == '\\') --before;
    if ((at - before) % 2 == 0) return at + 1;
  }
  return json.size();
}

/// Behind the value that begins at `at`.
std::size_t value_end(std::string_view json, std::size_t at) {
  for (int depth = 0; at < json.size();) {
    const char c = json[at];
    const bool closes = c == ']' || c == '}';
    if (depth == 0 && (closes || c == ',')) break;
    at = c == '"' ? text_end(json, at) : at + 1;
    if (c == '[' || c == '{') ++depth;
    if (closes) --depth;
    if (depth == 0 && (closes || c == '"')) break;
  }
  return at;
}

/// Each name with its value, of an object without blanks, as ObjectWriter makes them.
template <class Each>
void each_member(std::string_view json, Each&& each) {
  for (std::size_t at = 1; at < json.size() && json[at] == '"';) {
    const auto behind = std::min(text_end(json, at) + 1, json.size());
    const auto end = value_end(json, behind);
    each(json.substr(at + 1, behind - at - 3), json.substr(behind, end - behind));
    at = end + 1;
  }
}

bool is_nothing(std::string_view value) {
  return value == "\"\"" || value == "null" || value == "[]";
}

std::string_view without_quotes(std::string_view text) {
  return text.size() < 2 ? std::string_view() : text.substr(1, text.size() - 2);
}

void append(std::string_view name, std::string_view value, std::string& out) {
  if (is_nothing(value)) return;
  if (out.back() != '{') out += ',';
  out.append("\"").append(name).append("\":").append(value);
}

void append_members(std::string_view json, std::span<const std::string_view> but, std::string& out) {
  const auto has = [](std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  each_member(json, [&](std::string_view name, std::string_view value) {
    if (has(kNotShown, name) || has(but, name)) return;
    if (name == "ts") append("time", '"' + readable_time(without_quotes(value)) + '"', out);
    append(name, value, out);
  });
}

}  // namespace

MessageNames ids_of(std::string_view json) {
  constexpr std::string_view first = "{\"user_id\":\"", second = "\",\"channel_id\":\"";  // message_record
  constexpr std::string_view third = "\",\"username\":";
  const auto middle = json.find(second, first.size());
  if (!json.starts_with(first) || middle == std::string_view::npos) return {};
  const auto channel = middle + second.size(), end = json.find('"', channel);
  MessageNames ids{json.substr(first.size(), middle - first.size()), json.substr(channel, end - channel)};
  if (end == std::string_view::npos || !json.substr(end).starts_with(third)) return ids;
  const auto name = end + third.size();
  ids.username = json.substr(name, text_end(json, name) - name);
  return ids;
}

void append_message(std::string_view json, const MessageNames& names, std::string& out) {
  out += '{';
  append("user_name", names.user, out);
  append("channel_name", names.channel, out);
  append_members(json, {}, out);
  out += '}';
}

void append_reply(std::string_view json, std::string_view user_name, std::string& out) {
  out += '{';
  append("user_name", user_name, out);
  append_members(json, kOfThread, out);
  out += '}';
}

void append_channel(std::string_view json, std::string& out) {
  out += '{';
  each_member(json, [&](std::string_view name, std::string_view value) { append(name, value, out); });
  out += '}';
}

}  // namespace slack
