// Channels and users: lists that Slack gives whole, and channels that the bot has left.
#include <algorithm>

#include "sync.hpp"
#include "sync_step.hpp"

namespace slack {
namespace {

// Slack takes "an integer under 1000".
constexpr std::int64_t kListPage = 999;
// Rows a commit: larger ones keep readers' pages in memory and the log long.
constexpr int kRowsACommit = 200;

}  // namespace

void Sync::list_page(Step& step, ListState& list, bool channels) {
  if (list.generation == 0) list.generation = step.pass.next_generation++;
  const auto answer = ask_list(step, list, channels);
  if (!answer) return commit(step);
  const std::string what = channels ? "the list of channels" : "the list of users";
  const auto paging = paging_of(*answer, list.cursor);
  put_list(step, items_of(*answer, channels ? "channels" : "members", what), channels, list.generation);
  list.cursor = paging.cursor;
  ++list.pages_so_far;
  if (list.cursor.empty()) {
    step.store.sweep(channels ? kChannels : kUsers, "", list.generation);
    list = {"", 0, step.now_ms(), list.pages_so_far, 0, false};
    step.store.report_ok(what);
  }
  commit(step);
  if (!channels) return;
  channels_loaded_ = false;
  step.channel = nullptr;
  if (!list.wanted) forget_lost_channels(step);
}

/// Nothing when the list begins anew.
std::optional<Answer> Sync::ask_list(Step& step, ListState& list, bool channels) {
  Params params{{"limit", std::to_string(kListPage)}};
  if (channels) params.emplace_back("types", private_channels_ ? "public_channel,private_channel" : "public_channel");
  if (!list.cursor.empty()) params.emplace_back("cursor", list.cursor);
  try {
    return ask(step, channels ? "conversations.list" : "users.list", params);
  } catch (const SlackError& error) {
    const bool expired = error.name() == "invalid_cursor" && !list.cursor.empty();
    // Slack refuses the whole list when the token may not see one of the types.
    const bool no_private = channels && private_channels_ && error.name() == "missing_scope";
    if (!expired && !no_private) throw;
    if (no_private) private_channels_ = false;
    list.cursor.clear();
    list.pages_so_far = 0;
    list.generation = step.pass.next_generation++;
    return std::nullopt;
  }
}

void Sync::put_list(Step& step, const Json& items, bool channels, std::int64_t generation) {
  int rows = 0;
  for (const auto& item : items.GetArray()) {
    const auto record = channels ? channel_record(item, generation) : user_record(item, generation);
    if (!record) continue;
    step.store.put(*record);
    if (++rows % kRowsACommit == 0) step.store.commit();
  }
}

/// What the bot can no longer see, its agents shall not read either. An archived channel has no members any more, but
/// is not lost.
void Sync::forget_lost_channels(Step& step) {
  load_channels(step);
  std::set<std::string> members;
  for (const auto& channel : channels_) members.insert(channel.id);
  auto tracked = load_tracked(step.store);
  for (auto at = tracked.begin(); at != tracked.end();) {
    if (members.contains(*at) || is_archived(step, *at)) {
      ++at;
      continue;
    }
    forget_channel(step, *at);
    at = tracked.erase(at);
    save_tracked(step.store, tracked);
    commit(step);
  }
}

bool Sync::is_archived(Step& step, const std::string& channel) const {
  const auto json = step.store.reader().get(kChannels, channel);
  if (!json) return false;
  const auto record = parse(*json);
  return !record.HasParseError() && flag_of(record, "is_archived");
}

void Sync::forget_channel(Step& step, const std::string& channel) {
  if (step.thread.id.starts_with(channel + "/")) {
    step.thread = {};
    step.thread.save(step.store);
  }
  kruxos::Query query;
  query.collection = kMessages;
  query.where = kruxos::field_eq("channel_id", channel);
  query.limit = kRowsACommit;
  query.count_limit = 1;
  for (;;) {
    step.call.throw_if_cancelled();
    std::vector<std::string> ids;
    const auto result = step.store.reader().query(query, [&](const kruxos::Row& row) {
      ids.emplace_back(row.id);
      return true;
    });
    if (ids.empty()) {
      need_whole(result);
      break;
    }
    for (const auto& id : ids) step.store.erase(kMessages, id);
    step.store.commit();
  }
  step.store.set_cursor("channel:" + channel, "");
  step.store.report_ok(channel);
  step.store.report_ok("threads of " + channel);
}

}  // namespace slack
