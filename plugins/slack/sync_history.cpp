// Channels: what is new, and the look back.
#include <algorithm>
#include <limits>

#include "sync.hpp"
#include "sync_step.hpp"
#include "timestamp.hpp"

namespace slack {
namespace {

std::string later(const std::string& a, const std::string& b) {
  return micros(a).value_or(-1) >= micros(b).value_or(-1) ? a : b;
}

std::string earlier(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return micros(a).value_or(0) <= micros(b).value_or(0) ? a : b;
}

}  // namespace

void Sync::load_channels(Step& step) {
  if (channels_loaded_) return;
  std::vector<ChannelState> known = std::move(channels_);
  channels_.clear();
  std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  kruxos::Query query;
  query.collection = kChannels;
  query.where = kruxos::all_of(
      {kruxos::field_eq("is_member", std::int64_t{1}), kruxos::field_eq("is_archived", std::int64_t{0})});
  query.descending = false;
  query.limit = 1000;
  query.count_limit = 1;
  const auto reader = step.store.reader();
  for (bool more = true; more; query.offset += query.limit) {
    const auto before = channels_.size();
    const auto result = reader.query(query, [&](const kruxos::Row& row) {
      const auto at = std::lower_bound(known.begin(), known.end(), row.id,
                                       [](const auto& channel, std::string_view id) { return channel.id < id; });
      const bool is_known = at != known.end() && at->id == row.id;
      channels_.push_back(is_known ? std::move(*at) : ChannelState::load(step.store, row.id));
      return true;
    });
    need_whole(result);
    more = channels_.size() - before >= query.limit;
  }
  track_members(step);
  channels_loaded_ = true;
}

/// Noted before any of their messages is put, so that what the bot leaves can be forgotten.
void Sync::track_members(Step& step) {
  auto tracked = load_tracked(step.store);
  const std::set<std::string> known(tracked.begin(), tracked.end());
  for (const auto& channel : channels_) {
    if (!known.contains(channel.id)) tracked.push_back(channel.id);
  }
  if (tracked.size() == known.size()) return;
  save_tracked(step.store, tracked);
  step.store.commit();
}

/// A look under way first, then the channel that was left alone longest. The same one until this pass is done with it.
ChannelState* Sync::next_channel(Step& step) {
  if (channels_loaded_ && step.channel && step.channel->pass != step.pass.number) return step.channel;
  load_channels(step);
  ChannelState* next = nullptr;
  for (auto& channel : channels_) {
    if (channel.pass == step.pass.number) continue;
    const bool under_way = channel.look != Look::kNone, next_under_way = next && next->look != Look::kNone;
    const bool sooner = !next || (under_way != next_under_way ? under_way : channel.through_ms < next->through_ms);
    if (sooner) next = &channel;
  }
  step.channel = next;
  return next;
}

void Sync::begin_look(Step& step, ChannelState& channel) {
  channel.end_look();
  channel.began_ms = step.now_ms();
  channel.generation = step.pass.next_generation++;
  if (!channel.synced) {
    channel.look = Look::kFirst;
    return;
  }
  if (step.pass.look_back || channel.newest.empty()) {
    channel.look = Look::kBack;
    const auto from_ms = std::max<std::int64_t>(0, channel.began_ms + skew_ms_ - options_.look_back_ms);
    // From the newest message at least, so that what is known and what is fetched leave no gap between them.
    channel.oldest = later(channel.floor, earlier(from_micros(from_ms * 1000), channel.newest));
    return;
  }
  channel.look = Look::kNew;
  channel.oldest = channel.newest;
}

Params Sync::history_params(const ChannelState& channel) const {
  const auto left = channel.look == Look::kFirst ? options_.initial_messages - channel.got : options_.page_size;
  Params params{{"channel", channel.id},
                {"limit", std::to_string(std::clamp<std::int64_t>(left, 1, options_.page_size))}};
  if (!channel.oldest.empty() && channel.oldest != "0") {
    params.emplace_back("oldest", channel.oldest);
    if (channel.look == Look::kBack) params.emplace_back("inclusive", "true");
  }
  if (!channel.page.empty()) params.emplace_back("cursor", channel.page);
  return params;
}

/// Nothing when the look begins anew.
std::optional<Answer> Sync::ask_history(Step& step, ChannelState& channel) {
  try {
    return ask(step, "conversations.history", history_params(channel));
  } catch (const SlackError& error) {
    if (error.name() != "invalid_cursor" || channel.page.empty()) throw;
    channel.end_look();
    return std::nullopt;
  }
}

void Sync::history_page(Step& step, ChannelState& channel) {
  if (channel.look == Look::kNone) begin_look(step, channel);
  if (const auto answer = ask_history(step, channel)) {
    const auto paging = paging_of(*answer, channel.page);
    const auto& messages = items_of(*answer, "messages", "history of " + channel.id);
    for (const auto& json : messages.GetArray()) {
      auto message = message_from_slack(json, channel.id);
      if (!message) {
        step.store.put(timeless_record(json, channel.id, channel.generation, channel.began_ms));
        continue;
      }
      channel.max_ts = later(channel.max_ts, message->ts);
      channel.min_ts = earlier(channel.min_ts, message->ts);
      ++channel.got;
      put_message(step, std::move(*message), channel);
    }
    channel.page = paging.cursor;
    const bool enough = channel.look == Look::kFirst && channel.got >= options_.initial_messages;
    if (channel.page.empty() || enough) end_look(step, channel, paging.whole());
  }
  channel.save(step.store);
  commit(step);
}

void Sync::put_message(Step& step, Message message, const ChannelState& channel) {
  const auto reader = step.store.reader();
  const auto json = reader.get(kMessages, message.id());
  const auto known = json ? message_from_record(*json) : std::nullopt;
  if (message.is_reply()) {
    message.thread_unknown = !reader.get(kMessages, message.thread_id()).has_value();
  } else if (message.has_replies()) {
    message.thread_active = recent(step, message.latest_reply);
    message.replies_pending = !known || known->replies_pending || known->latest_reply != message.latest_reply ||
                              known->reply_count != message.reply_count ||
                              (channel.look == Look::kBack && message.thread_active);
  } else {
    // Its replies are gone: the look at the thread clears them away.
    message.replies_pending = known && (known->replies_pending || known->has_replies());
  }
  learn(step, message);
  step.store.put(message_record(message, channel.generation));
}

bool Sync::recent(const Step& step, std::string_view ts) const {
  return millis(ts) >= step.now_ms() + skew_ms_ - options_.look_back_ms;
}

/// `whole`: Slack has no more pages.
void Sync::end_look(Step& step, ChannelState& channel, bool whole) {
  if (channel.look == Look::kFirst) channel.floor = whole || channel.min_ts.empty() ? "0" : channel.min_ts;
  if (channel.look != Look::kNew) sweep_look(step, channel, whole);
  if (!channel.max_ts.empty()) channel.newest = later(channel.newest, channel.max_ts);
  channel.through_ms = channel.began_ms;
  channel.synced = true;
  channel.pass = step.pass.number;
  if (channel.failed) step.store.report_ok(channel.id);
  channel.failed = channel.refused = false;
  channel.end_look();
}

/// What a whole look did not see is gone.
void Sync::sweep_look(Step& step, const ChannelState& channel, bool whole) {
  const bool first = channel.look == Look::kFirst;
  if (!first && !whole) return;
  const auto from = first ? channel.floor : channel.oldest;
  // Other messages of the bound's own millisecond may lie before it.
  const auto from_ms = from.empty() || from == "0" ? std::numeric_limits<std::int64_t>::min() : millis(from) + 1;
  if (!first) wake_threads(step, channel, from_ms);
  step.store.sweep(kMessages, channel.id, channel.generation, from_ms, channel.began_ms + skew_ms_);
  if (!first && !from.empty() && channel.min_ts != from) step.store.erase(kMessages, channel.id + "/" + from);
}

/// Threads whose first message the look did not see: it is older than the look but has recent replies, or it is gone
/// and its replies are to be cleared away.
void Sync::wake_threads(Step& step, const ChannelState& channel, std::int64_t from_ms) {
  step.store.commit();  // this page's messages: those of the look that have replies are marked already
  kruxos::Query query;
  query.collection = kMessages;
  query.where = kruxos::field_eq("active_thread", channel.id);
  query.limit = 200;
  query.count_limit = 1;
  std::vector<Message> parents;
  for (std::uint32_t got = query.limit; got == query.limit; query.offset += query.limit) {
    got = 0;
    const auto result = step.store.reader().query(query, [&](const kruxos::Row& row) {
      ++got;
      auto parent = message_from_record(row.json);
      if (!parent || parent->replies_pending) return true;
      parent->thread_active = row.order_ms >= from_ms || recent(step, parent->latest_reply);
      parent->replies_pending = parent->thread_active;
      parents.push_back(std::move(*parent));
      return true;
    });
    need_whole(result);
  }
  for (const auto& parent : parents) step.store.put(message_record(parent, channel.generation));
}

}  // namespace slack
