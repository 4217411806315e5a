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

rapidjson::Document params_of(std::string_view json) {
  auto params = parse(json);
  if (params.HasParseError() || !params.IsObject()) {
    throw ProxyError(ErrorKind::kInvalid, "The write's parameters are not one JSON object.").no_effect();
  }
  return params;
}

std::string str(const Json& params, std::string_view name) {
  return std::string(text_of(params, name));
}

std::string posted(const std::string& channel, std::string_view ts) {
  return ObjectWriter()
      .text("message_id", channel + "/" + std::string(ts))
      .text("channel", channel)
      .text("ts", ts)
      .done();
}

std::string reacted(bool was_there_already) {
  ObjectWriter writer;
  writer.text("status", "ok");
  if (was_there_already) writer.flag("already", true);
  return writer.done();
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
  return posted(str(answer.body, "channel").empty() ? str(params, "channel") : str(answer.body, "channel"), ts);
}

std::string Writer::react(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                          bool add) const {
  const Params form{
      {"channel", str(params, "channel")}, {"timestamp", str(params, "ts")}, {"name", str(params, "reaction")}};
  try {
    api_.call(call, add ? "reactions.add" : "reactions.remove", form);
    return reacted(false);
  } catch (const SlackError& error) {
    // On a later attempt an earlier one of ours has done it.
    if (error.name() == (add ? "already_reacted" : "no_reaction")) return reacted(write.attempt <= 1);
    throw;
  }
}

EffectFound Writer::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  try {
    return look(call, write);
  } catch (const SlackError& error) {
    // The token is good, but not for looking: waiting for another one would help nobody, and a person is to be asked.
    for (const auto* name : {"missing_scope", "no_permission", "not_allowed_token_type"}) {
      if (error.name() == name) throw kruxos::ProxyError(ErrorKind::kRefused, error.what());
    }
    throw;
  }
}

EffectFound Writer::look(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  const auto params = params_of(write.params_json);
  if (write.operation == "slack.send" || write.operation == "slack.reply") return find_message(call, write, params);
  if (write.operation != "slack.react" && write.operation != "slack.remove_react") return EffectFound::cannot_tell();
  const auto there = has_reacted(call, params);
  if (!there) return EffectFound::cannot_tell();
  return *there == (write.operation == "slack.react") ? EffectFound::found(reacted(false)) : EffectFound::absent();
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
  bool unsure = false;
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    call.throw_if_cancelled();
    auto page_form = form;
    if (!cursor.empty()) page_form.emplace_back("cursor", cursor);
    const auto answer = api_.call(call, method, page_form);
    for (const auto& message : items_of(answer, "messages", method).GetArray()) {
      unsure = unsure || !micros(text_of(message, "ts"));  // it is not understood: it may be ours
      const auto mark = mark_of(message, write.write_id);
      if (mark == Mark::kOurs) {
        return EffectFound::found(posted(str(params, "channel"), text_of(message, "ts")));
      }
      const auto user = text_of(message, "user"), bot = text_of(message, "bot_id");
      const bool own = own_user.empty() || user == own_user || (!own_bot.empty() && bot == own_bot);
      // A message of ours whose mark Slack may be hiding: this write's or another's, which nobody can tell.
      unsure = unsure || mark == Mark::kHidden || (mark == Mark::kNone && own && !marks_show);
    }
    const auto paging = paging_of(answer, cursor);
    cursor = paging.cursor;
    if (cursor.empty()) return unsure || !paging.whole() ? EffectFound::cannot_tell() : EffectFound::absent();
  }
  return EffectFound::cannot_tell();
}

std::optional<bool> Writer::has_reacted(const kruxos::Call& call, const Json& params) const {
  const auto self = api_.call(call, "auth.test", {});
  const auto own_user = text_of(self.body, "user_id");
  const auto answer = api_.call(
      call, "reactions.get", {{"channel", str(params, "channel")}, {"timestamp", str(params, "ts")}, {"full", "true"}});
  const auto* message = member(answer.body, "message");
  if (own_user.empty() || !message || !message->IsObject()) return std::nullopt;
  const auto* reactions = member(*message, "reactions");
  if (!reactions) return false;
  if (!reactions->IsArray()) return std::nullopt;
  bool unsure = false;
  for (const auto& reaction : reactions->GetArray()) {
    const bool same_name = text_of(reaction, "name") == text_of(params, "reaction");
    const auto* users = member(reaction, "users");
    const bool is_list = users && users->IsArray();
    const bool mine =
        is_list && std::any_of(users->Begin(), users->End(), [&](const Json& user) {
          return user.IsString() && std::string_view(user.GetString(), user.GetStringLength()) == own_user;
        });
    if (mine && same_name) return true;
    // An emoji has several names, of which Slack tells one; and Slack may list fewer users than it counts.
    const bool all_listed = is_list && static_cast<std::int64_t>(users->Size()) >= integer_of(reaction, "count");
    unsure = unsure || mine || !all_listed;
  }
  return unsure ? std::nullopt : std::optional(false);
}

bool Writer::has_scope(std::string_view scope) const {
  return scopes_ && std::find(scopes_->begin(), scopes_->end(), scope) != scopes_->end();
}

}  // namespace slack
