#include "write.hpp"

#include <algorithm>

#include "model.hpp"
#include "timestamp.hpp"

namespace slack {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;

constexpr const char* kEventType = "kruxos_write";
// Slack's clock and ours may differ by more than a Date header's second, and a request may have been accepted before we
// noted the attempt's start.
constexpr std::int64_t kMarginMs = 10 * 60'000;
// Beyond so many pages a look is given up as "cannot tell": 20,000 messages in one channel since the attempt.
constexpr int kMostPages = 100;
constexpr const char* kHiddenMarks =
    "Messages of this account stand there, and Slack hides from this token which write they belong to: the scope "
    "metadata.message:read would show it.";

std::string posted(const std::string& channel, std::string_view ts) {
  return ObjectWriter()
      .text("message_id", channel + "/" + std::string(ts))
      .text("channel", channel)
      .text("ts", ts)
      .done();
}

enum class Mark { kNone, kHidden, kOther, kOurs };

/// Whose write a message is. Slack strips the payload, and perhaps the whole metadata, where the token may not read it.
Mark mark_of(const Json& message, std::string_view write_id) {
  const auto* metadata = member(message, "metadata");
  if (!metadata || text_of(*metadata, "event_type").empty()) return Mark::kNone;
  if (text_of(*metadata, "event_type") != kEventType) return Mark::kOther;
  const auto* payload = member(*metadata, "event_payload");
  const auto id = payload ? text_of(*payload, "write_id") : std::string_view();
  if (id.empty()) return Mark::kHidden;
  return id == write_id ? Mark::kOurs : Mark::kOther;
}

}  // namespace

rapidjson::Document Writer::params_of(std::string_view json) {
  auto params = parse(json);
  if (params.HasParseError() || !params.IsObject()) {
    throw ProxyError(ErrorKind::kInvalid, "The write's parameters are not one JSON object.").no_effect();
  }
  return params;
}

std::string Writer::str(const Json& params, std::string_view name) {
  return std::string(text_of(params, name));
}

Answer Writer::change(const kruxos::Call& call, std::string_view method, const Params& form,
                      const MessageRef& message) const {
  try {
    auto answer = api_.call(call, method, form);
    note_change(call, message);
    return answer;
  } catch (const SlackError& error) {
    // After a refusal too: the replica may lack what an earlier attempt has done.
    if (error.kind() != ErrorKind::kRateLimited) note_change(call, message);
    throw;
  }
}

void Writer::note_change(const kruxos::Call& call, const MessageRef& message) const {
  changes_.note(message.channel, message.ts, message.thread_ts, call.now_ms());
}

/// Messages that are no replies every pass finds by itself.
void Writer::note_reply(const kruxos::Call& call, const Json& params, const std::string& channel,
                        std::string_view ts) const {
  if (auto thread = str(params, "thread_ts"); !thread.empty()) {
    note_change(call, {channel, std::string(ts), std::move(thread)});
  }
}

std::string Writer::execute(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  const auto params = params_of(write.params_json);
  if (write.operation == "slack.send" || write.operation == "slack.reply") return post(call, write, params);
  if (write.operation == "slack.react") return react(call, write, params, true);
  if (write.operation == "slack.remove_react") return react(call, write, params, false);
  // For good: the adapter does not learn it by being asked again.
  throw ProxyError(ErrorKind::kRefused, "This adapter does not perform " + std::string(write.operation) + ".")
      .no_effect();
}

std::string Writer::post(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params) const {
  const auto payload = ObjectWriter().text("write_id", write.write_id).integer("attempt", write.attempt).done();
  Params form{{"channel", str(params, "channel")},
              {"text", str(params, "text")},
              {"metadata", ObjectWriter().text("event_type", kEventType).raw("event_payload", payload).done()}};
  if (const auto thread = str(params, "thread_ts"); !thread.empty()) form.emplace_back("thread_ts", thread);
  const auto answer = api_.call(call, "chat.postMessage", form);
  const auto ts = text_of(answer.body, "ts");
  if (!micros(ts)) {
    throw SlackError(ErrorKind::kUnavailable,
                     "Slack took the message, but its answer does not say which one it became.", "");
  }
  const auto channel = str(answer.body, "channel").empty() ? str(params, "channel") : str(answer.body, "channel");
  note_reply(call, params, channel, ts);
  return posted(channel, ts);
}

EffectFound Writer::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  try {
    return look(call, write);
  } catch (const SlackError& error) {
    // The token is good, but not for looking: waiting for another one would help nobody, and a person is to be asked.
    if (may_not_look(error)) throw kruxos::ProxyError(ErrorKind::kRefused, error.what());
    throw;
  }
}

bool Writer::may_not_look(const SlackError& error) {
  return error.name() == "missing_scope" || error.name() == "no_permission" || error.name() == "not_allowed_token_type";
}

EffectFound Writer::look(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  const auto params = params_of(write.params_json);
  if (write.operation == "slack.send" || write.operation == "slack.reply") return find_message(call, write, params);
  if (write.operation == "slack.react") return find_reaction(call, write, params, true);
  if (write.operation == "slack.remove_react") return find_reaction(call, write, params, false);
  return EffectFound::cannot_tell();
}

/// Every message since the first attempt, by Slack's own clock.
Params Writer::look_from(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                         std::int64_t service_ms) {
  const auto skew = service_ms > 0 ? service_ms - call.now_ms() : 0;
  const auto first = write.first_attempt_at_ms > 0 ? write.first_attempt_at_ms : write.created_at_ms;
  const auto since = std::max<std::int64_t>(0, first + skew - kMarginMs);
  Params form{{"channel", str(params, "channel")},
              {"oldest", from_micros(since * 1000)},
              {"inclusive", "true"},
              {"limit", "200"},
              {"include_all_metadata", "true"}};
  if (const auto thread = str(params, "thread_ts"); !thread.empty()) form.emplace_back("ts", thread);
  return form;
}

EffectFound Writer::find_message(const kruxos::Call& call, const kruxos::BufferedWrite& write,
                                 const Json& params) const {
  const auto self = api_.call(call, "auth.test", {});
  const auto own_user = text_of(self.body, "user_id"), own_bot = text_of(self.body, "bot_id");
  const auto form = look_from(call, write, params, self.service_ms);
  const auto method = str(params, "thread_ts").empty() ? "conversations.history" : "conversations.replies";
  const bool marks_show = has_scope("metadata.message:read");
  const char* unsure = nullptr;  // the first reason why a message could be this write's
  const auto doubt = [&](const char* why) { unsure = unsure ? unsure : why; };
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    call.throw_if_cancelled();
    auto page_form = form;
    if (!cursor.empty()) page_form.emplace_back("cursor", cursor);
    const auto answer = api_.call(call, method, page_form);
    for (const auto& message : items_of(answer, "messages", method).GetArray()) {
      if (!micros(text_of(message, "ts"))) doubt("Slack showed a message there that the adapter does not understand.");
      const auto mark = mark_of(message, write.write_id);
      if (mark == Mark::kOurs) {
        note_reply(call, params, str(params, "channel"), text_of(message, "ts"));
        return EffectFound::found(posted(str(params, "channel"), text_of(message, "ts")));
      }
      const auto user = text_of(message, "user"), bot = text_of(message, "bot_id");
      const bool own = own_user.empty() || user == own_user || (!own_bot.empty() && bot == own_bot);
      // A message of ours whose mark Slack may be hiding: this write's or another's, which nobody can tell.
      if (mark == Mark::kHidden || (mark == Mark::kNone && own && !marks_show)) doubt(kHiddenMarks);
    }
    const auto paging = paging_of(answer, cursor);
    cursor = paging.cursor;
    if (!cursor.empty()) continue;
    if (!paging.whole()) doubt("Slack says that it has more messages there, and does not show them.");
    return unsure ? EffectFound::cannot_tell(unsure) : EffectFound::absent();
  }
  return EffectFound::cannot_tell("So many messages have come there since then that the adapter did not look at all.");
}

bool Writer::has_scope(std::string_view scope) const {
  return scopes_ && std::find(scopes_->begin(), scopes_->end(), scope) != scopes_->end();
}

}  // namespace slack
