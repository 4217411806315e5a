// chat.postMessage, chat.update, chat.delete.
#include <algorithm>

#include "emulators/slack/access.hpp"
#include "emulators/slack/kept_text.hpp"
#include "emulators/slack/render.hpp"

namespace krux::test::slack {
namespace {

std::size_t characters(const std::string& utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

// `metadata` is an object with event_type, a string, and event_payload, an object. Empty is no metadata.
MaybeFailure read_metadata(const Call& call, std::string& metadata) {
  const std::string text = call.text("metadata");
  if (text.empty()) return std::nullopt;
  rapidjson::Document document;
  const bool fits = parse_json(text, document, OddText::kRefused) && !text_or(document, "event_type").empty() &&
                    find_member(document, "event_payload") && find_member(document, "event_payload")->IsObject();
  if (!fits) return Failure{"invalid_metadata_format", "", {}};
  metadata = to_json(document);
  return std::nullopt;
}

MaybeFailure read_json_array(const Call& call, const char* name, const char* error, std::string& into) {
  const std::string text = call.text(name);
  if (text.empty()) return std::nullopt;
  rapidjson::Document document;
  if (!parse_json(text, document, OddText::kRefused) || !document.IsArray()) return Failure{error, "", {}};
  if (!document.Empty()) into = to_json(document);
  return std::nullopt;
}

MaybeFailure read_content(const MethodContext& context, Draft& draft) {
  if (MaybeFailure failure = read_json_array(context.call, "blocks", "invalid_blocks_format", draft.blocks)) {
    return failure;
  }
  if (MaybeFailure failure = read_json_array(context.call, "attachments", "invalid_attachments", draft.attachments)) {
    return failure;
  }
  if (MaybeFailure failure = read_metadata(context.call, draft.metadata)) return failure;
  draft.text = kept_text(context.call.text("text"));
  if (draft.text.empty() && draft.blocks.empty() && draft.attachments.empty()) return Failure{"no_text", "", {}};
  if (characters(draft.text) > static_cast<std::size_t>(context.behaviour.text_max)) {
    return Failure{"msg_too_long", "", {}};
  }
  return std::nullopt;
}

MaybeFailure may_write(const MethodContext& context, const Channel* channel) {
  if (!channel) return Failure{"channel_not_found", "", {}};
  if (channel->info.is_archived) return Failure{"is_archived", "", {}};
  if (!channel->info.is_member && !context.token->has("chat:write.public")) return Failure{"not_in_channel", "", {}};
  return std::nullopt;
}

void write_message(MethodContext& context, const Channel& channel, const Message& message) {
  MessageView view;
  view.metadata = true;  // the sender sees its own
  view.thread = false;
  JsonOut rendered;
  render_message(context.workspace, channel, message, view, rendered);
  context.out.raw_field("message", rendered.str());
}

// The message that `channel` and `ts` name; it must be the caller's own, or `not_own` is the failure.
MaybeFailure own_message(MethodContext& context, const char* not_own, Channel*& channel, Message*& message) {
  channel = visible_channel(context, false);
  if (!channel) return Failure{"channel_not_found", "", {}};
  const auto ts = parse_ts(context.call.text("ts"));
  message = ts ? channel->find(*ts) : nullptr;
  if (!message) return Failure{"message_not_found", "", {}};
  if (!is_own(context, *message)) return Failure{not_own, "", {}};
  return std::nullopt;
}

}  // namespace

MaybeFailure chat_post_message(MethodContext& context) {
  Channel* channel = visible_channel(context, true);
  if (MaybeFailure failure = may_write(context, channel)) return failure;
  const Bot& bot = context.workspace.bot;
  Draft draft;
  draft.user = acting_user(context);
  draft.bot_id = bot.bot_id;
  draft.app_id = bot.app_id;
  draft.username = context.call.text("username");
  if (MaybeFailure failure = read_content(context, draft)) return failure;
  if (const std::string thread = context.call.text("thread_ts"); !thread.empty()) {
    const auto ts = parse_ts(thread);
    const Message* named = ts ? channel->find(*ts) : nullptr;
    if (!named) return Failure{"thread_not_found", "", {}};
    if (named->tombstone) return Failure{"cannot_reply_to_message", "", {}};
    draft.thread_ts = named->is_reply() ? named->thread_ts : named->ts;
    draft.broadcast = context.call.flag("reply_broadcast");
  }
  const Message& message = context.workspace.post(*channel, std::move(draft), context.now_ts());
  ++context.workspace.effects.posts;
  context.out.field("channel", channel->info.id).field("ts", format_ts(message.ts));
  write_message(context, *channel, message);
  return std::nullopt;
}

MaybeFailure chat_update(MethodContext& context) {
  Channel* channel = nullptr;
  Message* message = nullptr;
  if (MaybeFailure failure = own_message(context, "cant_update_message", channel, message)) return failure;
  if (channel->info.is_archived) return Failure{"is_archived", "", {}};
  Draft draft;
  if (MaybeFailure failure = read_content(context, draft)) return failure;
  if (!draft.metadata.empty()) message->metadata = std::move(draft.metadata);
  message->blocks = std::move(draft.blocks);
  message->attachments = std::move(draft.attachments);
  context.workspace.edit(*message, std::move(draft.text), acting_user(context), context.now_ts());
  ++context.workspace.effects.edits;
  context.out.field("channel", channel->info.id).field("ts", format_ts(message->ts)).field("text", message->text);
  write_message(context, *channel, *message);
  return std::nullopt;
}

MaybeFailure chat_delete(MethodContext& context) {
  Channel* channel = nullptr;
  Message* message = nullptr;
  if (MaybeFailure failure = own_message(context, "cant_delete_message", channel, message)) return failure;
  const Ts ts = message->ts;
  context.workspace.erase(*channel, ts);
  ++context.workspace.effects.deletes;
  context.out.field("channel", channel->info.id).field("ts", format_ts(ts));
  return std::nullopt;
}

}  // namespace krux::test::slack
