// conversations.history and conversations.replies.
#include <algorithm>
#include <limits>

#include "emulators/slack/access.hpp"
#include "emulators/slack/paging.hpp"
#include "emulators/slack/render.hpp"

namespace krux::test::slack {
namespace {

// As the methods' pages say.
constexpr int kMostOfHistory = 999, kMostReplies = 1000;

// The span of time asked for, both ends exclusive unless `inclusive`, and where the cursor stands in it.
struct Range {
  Ts oldest = 0;
  Ts latest = std::numeric_limits<Ts>::max();
  bool has_oldest = false, has_latest = false, inclusive = false;
  std::optional<Ts> after_cursor;

  bool contains(Ts ts) const {
    if (has_oldest && (ts < oldest || (ts == oldest && !inclusive))) return false;
    return !has_latest || ts < latest || (ts == latest && inclusive);
  }
};

MaybeFailure read_range(const MethodContext& context, Range& range) {
  const auto read = [&](const char* name, Ts& into, bool& given) {
    const std::string text = context.call.text(name);
    if (text.empty()) return true;
    const auto ts = parse_ts(text, true);
    if (!ts) return false;
    into = *ts;
    given = *ts != 0;  // 0 means "no bound"
    return true;
  };
  if (!read("oldest", range.oldest, range.has_oldest)) return Failure{"invalid_ts_oldest", "", {}};
  if (!read("latest", range.latest, range.has_latest)) return Failure{"invalid_ts_latest", "", {}};
  range.inclusive = context.call.flag("inclusive");
  if (const std::string cursor = context.call.text("cursor"); !cursor.empty()) {
    const auto position = read_cursor(cursor, "next_ts");
    const bool digits = position && position->size() <= 17 &&
                        std::all_of(position->begin(), position->end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return Failure{"invalid_cursor", "", {}};
    range.after_cursor = std::stoll(*position);
  }
  return std::nullopt;
}

struct Page {
  std::vector<const Message*> messages;
  bool has_more = false;
  Ts last = 0;  // where the next page goes on: beyond this one
};

// Takes up to `limit` of the candidates, which come in paging order; `beyond` says which lie behind the cursor.
template <typename Beyond>
Page cut_page(const std::vector<const Message*>& candidates, int limit, const Beyond& beyond) {
  Page page;
  for (const Message* message : candidates) {
    if (!beyond(message->ts)) continue;
    if (static_cast<int>(page.messages.size()) == limit) {
      page.has_more = true;
      break;
    }
    page.messages.push_back(message);
    page.last = message->ts;
  }
  return page;
}

Page history_page(const MethodContext& context, const Channel& channel, const Range& range, int limit) {
  const bool forward =
      range.has_oldest && !range.has_latest && context.behaviour.history_oldest_only == "closest_to_oldest";
  std::vector<const Message*> candidates;
  for (const auto& [ts, message] : channel.messages) {
    if ((!message.is_reply() || message.broadcast) && range.contains(ts)) candidates.push_back(&message);
  }
  if (!forward) std::reverse(candidates.begin(), candidates.end());
  Page page = cut_page(candidates, limit, [&](Ts ts) {
    if (!range.after_cursor) return true;
    return forward ? ts > *range.after_cursor : ts < *range.after_cursor;
  });
  if (forward) std::reverse(page.messages.begin(), page.messages.end());
  return page;
}

Page replies_page(const MethodContext& context, const Channel& channel, const Message& parent, const Range& range,
                  int limit) {
  const bool newest_first = context.behaviour.replies_parent == "newest_chunk_first";
  const bool with_parent = !range.after_cursor || context.behaviour.replies_parent != "first_page";
  std::vector<const Message*> candidates;
  if (auto thread = channel.threads.find(parent.ts); thread != channel.threads.end()) {
    for (Ts ts : thread->second) {
      if (range.contains(ts)) candidates.push_back(&channel.messages.at(ts));
    }
  }
  if (newest_first) std::reverse(candidates.begin(), candidates.end());
  Page page = cut_page(candidates, with_parent ? std::max(1, limit - 1) : limit, [&](Ts ts) {
    if (!range.after_cursor) return true;
    return newest_first ? ts < *range.after_cursor : ts > *range.after_cursor;
  });
  if (newest_first) std::reverse(page.messages.begin(), page.messages.end());
  if (with_parent) page.messages.insert(page.messages.begin(), &parent);
  return page;
}

void write_page(MethodContext& context, const Channel& channel, const Page& page) {
  MessageView view;
  view.metadata = context.call.flag("include_all_metadata") && context.token->has("metadata.message:read");
  view.reaction_users_max = context.behaviour.reaction_users_max;
  context.out.array("messages");
  for (const Message* message : page.messages) {
    render_message(context.workspace, channel, *message, view, context.out);
  }
  context.out.end_array().field("has_more", page.has_more);
  write_page_end(context, page.has_more ? make_cursor("next_ts", std::to_string(page.last)) : "");
}

// Of digits; 0 without any.
int number_of(const std::string& digits) {
  return digits.empty() ? 0 : std::stoi(digits);
}

// What both methods check before they look at messages.
MaybeFailure open_channel(MethodContext& context, const char* also_required, int default_limit, int most,
                          Channel*& channel, Range& range, int& limit) {
  for (const char* field : {"channel", also_required}) {
    if (field && context.call.text(field).empty()) {
      return Failure{"invalid_arguments", "", {std::string("[ERROR] missing required field: ") + field}};
    }
  }
  channel = visible_channel(context, false);
  if (!channel) return Failure{"channel_not_found", "", {}};
  if (MaybeFailure failure = may_read(context, *channel)) return failure;
  const bool fits = page_size(context, default_limit, most, limit) && number_of(context.call.text("limit")) <= most;
  if (!fits) return Failure{"invalid_limit", "", {}};
  return read_range(context, range);
}

}  // namespace

MaybeFailure conversations_history(MethodContext& context) {
  Channel* channel = nullptr;
  Range range;
  int limit = 0;
  if (MaybeFailure failure = open_channel(context, nullptr, 100, kMostOfHistory, channel, range, limit)) return failure;
  write_page(context, *channel, history_page(context, *channel, range, limit));
  context.out.null_field("channel_actions_ts").field("channel_actions_count", 0);
  return std::nullopt;
}

MaybeFailure conversations_replies(MethodContext& context) {
  Channel* channel = nullptr;
  Range range;
  int limit = 0;
  if (MaybeFailure failure = open_channel(context, "ts", 1000, kMostReplies, channel, range, limit)) return failure;
  const auto ts = parse_ts(context.call.text("ts"));
  const Message* message = ts ? channel->find(*ts) : nullptr;
  if (!message) return Failure{"thread_not_found", "", {}};
  Page page;
  if (message->is_reply())
    page.messages.push_back(message);  // asked with a reply's ts, Slack shows that reply alone
  else
    page = replies_page(context, *channel, *message, range, limit);
  write_page(context, *channel, page);
  return std::nullopt;
}

}  // namespace krux::test::slack
