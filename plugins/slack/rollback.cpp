#include <algorithm>

#include "model.hpp"
#include "timestamp.hpp"
#include "write.hpp"

namespace slack {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;

rapidjson::Document object_of(std::string_view json) {
  auto document = parse(json);
  if (document.HasParseError() || !document.IsObject()) {
    throw ProxyError(ErrorKind::kInvalid, "What is known of the write is not one JSON object.").no_effect();
  }
  return document;
}

bool is_message(std::string_view operation) {
  return operation == "slack.send" || operation == "slack.reply";
}

}  // namespace

std::string Writer::undone(bool was_gone) {
  ObjectWriter writer;
  writer.text("status", "ok");
  if (was_gone) writer.flag("already", true);
  return writer.done();
}

bool Writer::supports_rollback(std::string_view operation) {
  return is_message(operation) || operation == "slack.react";
}

std::string Writer::rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const {
  const auto params = object_of(request.params_json), result = object_of(request.result_json);
  if (!is_message(request.operation)) return undo_reaction(call, request, params, result);
  const MessageRef message{str(result, "channel"), str(result, "ts"), str(params, "thread_ts")};
  const auto present = present_message(call, params, result);
  if (!present) {
    note_change(call, message);
    return undone(true);
  }
  if (!request.force) refuse_conflict(*present);
  return delete_message(call, message);
}

void Writer::refuse_conflict(const Present& present) {
  // Slack rewrites texts (entities, links), so that they cannot be compared; an edit leaves a mark. Whose the replies
  // are cannot be told: all agents write as one user.
  if (!present.edited && !present.answered) return;
  throw ProxyError(
      ErrorKind::kConflict,
      present.edited ? "The message was changed since it was sent. Only an operator can undo it nevertheless, by force."
                     : "The message has been replied to since it was sent. Undo your own replies first; where others "
                       "have replied, only an operator can undo it nevertheless, by force.")
      .type("RollbackConflict")
      .no_effect();
}

std::string Writer::delete_message(const kruxos::Call& call, const MessageRef& message) const {
  try {
    change(call, "chat.delete", {{"channel", message.channel}, {"ts", message.ts}}, message);
    return undone(false);
  } catch (const SlackError& error) {
    if (error.name() == "message_not_found") return undone(true);
    throw;
  }
}

EffectFound Writer::find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const {
  const auto params = object_of(request.params_json), result = object_of(request.result_json);
  if (is_message(request.operation)) {
    if (present_message(call, params, result)) return EffectFound::absent();
    note_change(call, {str(result, "channel"), str(result, "ts"), str(params, "thread_ts")});
    return EffectFound::found(undone(false));
  }
  return find_undone_reaction(call, params);
}

std::optional<Writer::Present> Writer::present_message(const kruxos::Call& call, const Json& params,
                                                       const Json& result) const {
  const auto channel = text_of(result, "channel"), ts = text_of(result, "ts"), thread = text_of(params, "thread_ts");
  if (channel.empty() || !micros(ts)) {
    throw ProxyError(ErrorKind::kInvalid, "The write's result does not say which message it became.").no_effect();
  }
  // A page of a thread may hold its first message too, whatever the bounds.
  Params form{{"channel", std::string(channel)},
              {"latest", std::string(ts)},
              {"oldest", std::string(ts)},
              {"inclusive", "true"},
              {"limit", "15"}};
  if (!thread.empty()) form.emplace_back("ts", std::string(thread));
  try {
    const auto answer = api_.call(call, thread.empty() ? "conversations.history" : "conversations.replies", form);
    const auto found = present_in(items_of(answer, "messages", "answer"), ts);
    if (!found && !paging_of(answer, "").whole()) {
      throw SlackError(ErrorKind::kUnavailable, "Slack does not show whether the message is there.", "");
    }
    return found;
  } catch (SlackError& error) {
    if (error.name() == "thread_not_found" || error.name() == "message_not_found") return std::nullopt;
    error.no_effect();
    throw;
  }
}

std::optional<Writer::Present> Writer::present_in(const Json& messages, std::string_view ts) {
  for (const auto& message : messages.GetArray()) {
    if (text_of(message, "ts") != ts || text_of(message, "subtype") == "tombstone") continue;
    return Present{member(message, "edited") != nullptr, integer_of(message, "reply_count") > 0};
  }
  return std::nullopt;
}

}  // namespace slack
