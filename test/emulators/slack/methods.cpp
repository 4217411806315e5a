#include "emulators/slack/methods.hpp"

#include <algorithm>

namespace krux::test::slack {
namespace {

std::string join(const std::vector<const char*>& words) {
  std::string joined;
  for (const char* word : words) joined += (joined.empty() ? "" : ",") + std::string(word);
  return joined;
}

void write_texts(const char* key, const std::vector<std::string>& texts, JsonOut& out) {
  if (texts.empty()) return;
  out.array(key);
  for (const std::string& text : texts) out.value(text);
  out.end_array();
}

// The first warning and all of them, where Slack puts them.
void write_warnings(const Call& call, const std::vector<std::string>& messages, bool metadata_written, JsonOut& out) {
  if (!call.warnings.empty()) out.field("warning", call.warnings.front());
  if (metadata_written || (call.warnings.empty() && messages.empty())) return;
  out.object("response_metadata");
  write_texts("warnings", call.warnings, out);
  write_texts("messages", messages, out);
  out.end_object();
}

void add_scope_headers(const Method* method, const Token* token, HttpAnswer& http) {
  if (token) http.headers.emplace_back("X-OAuth-Scopes", token->scope_list());
  if (method && !method->scopes.empty()) http.headers.emplace_back("X-Accepted-OAuth-Scopes", join(method->scopes));
}

// Token and scopes, in Slack's order. On success the token's entry is in `token`.
MaybeFailure check_caller(const World& world, const Call& call, const Method& method, const Token*& token) {
  if (!method.needs_token) return std::nullopt;
  if (call.token.empty()) return Failure{"not_authed", "", {}};
  const Token* found = world.tokens.find(call.token);
  if (!found) return Failure{"invalid_auth", "", {}};
  if (!found->revoked_error.empty()) return Failure{found->revoked_error, "", {}};
  if (found->is_refresh && std::string_view(method.name) != "auth.revoke") return Failure{"invalid_auth", "", {}};
  token = found;
  if (method.scopes.empty()) return std::nullopt;
  const bool allowed =
      std::any_of(method.scopes.begin(), method.scopes.end(), [&](const char* scope) { return found->has(scope); });
  return allowed ? std::nullopt : MaybeFailure(Failure{"missing_scope", join(method.scopes), {}});
}

}  // namespace

const std::vector<Method>& all_methods() {
  static const std::vector<const char*> read = {"channels:read", "groups:read", "mpim:read", "im:read"};
  static const std::vector<const char*> history = {"channels:history", "groups:history", "mpim:history", "im:history"};
  static const std::vector<Method> methods = {
      {"conversations.list", read, true, conversations_list, {"cursor", "exclude_archived", "limit", "types"}},
      {"conversations.info", read, true, conversations_info, {"channel", "include_locale", "include_num_members"}},
      {"conversations.history",
       history,
       true,
       conversations_history,
       {"channel", "cursor", "include_all_metadata", "inclusive", "latest", "limit", "oldest"}},
      {"conversations.replies",
       history,
       true,
       conversations_replies,
       {"channel", "ts", "cursor", "include_all_metadata", "inclusive", "latest", "limit", "oldest"}},
      {"users.list", {"users:read"}, true, users_list, {"cursor", "include_locale", "limit"}},
      {"users.info", {"users:read"}, true, users_info, {"include_locale", "user"}},
      {"chat.postMessage",
       {"chat:write"},
       true,
       chat_post_message,
       {"as_user", "attachments", "blocks", "channel", "icon_emoji", "icon_url", "link_names", "metadata", "mrkdwn",
        "parse", "reply_broadcast", "text", "thread_ts", "unfurl_links", "unfurl_media", "username"}},
      {"chat.update",
       {"chat:write"},
       true,
       chat_update,
       {"as_user", "attachments", "blocks", "channel", "link_names", "metadata", "parse", "text", "ts"}},
      {"chat.delete", {"chat:write"}, true, chat_delete, {"as_user", "channel", "ts"}},
      {"reactions.add", {"reactions:write"}, true, reactions_add, {"channel", "name", "timestamp"}},
      {"reactions.remove",
       {"reactions:write"},
       true,
       reactions_remove,
       {"channel", "file", "file_comment", "name", "timestamp"}},
      {"reactions.get",
       {"reactions:read"},
       true,
       reactions_get,
       {"channel", "file", "file_comment", "full", "timestamp"}},
      {"auth.test", {}, true, auth_test, {}},
      {"auth.revoke", {}, true, auth_revoke, {"test"}},
      {"api.test", {}, false, api_test, {"error", "foo"}},
  };
  return methods;
}

const Method* find_method(const std::string& name) {
  const auto& methods = all_methods();
  auto found = std::find_if(methods.begin(), methods.end(), [&](const Method& m) { return name == m.name; });
  return found == methods.end() ? nullptr : &*found;
}

Performed failure_answer(const Call& call, const Failure& failure, const Token* token) {
  JsonOut out;
  out.object().field("ok", false).field("error", failure.error);
  if (failure.error == "missing_scope") {
    out.field("needed", failure.needed).field("provided", token ? token->scope_list() : "");
  }
  if (failure.error == "unknown_method") out.field("req_method", call.method);
  write_warnings(call, failure.messages, false, out);
  out.end_object();
  Performed answer{{}, failure.error};
  answer.http.body = out.str();
  add_scope_headers(find_method(call.method), token, answer.http);
  return answer;
}

Performed run_method(World world, const Call& call, std::int64_t now_ms, int max_items) {
  const Method* method = find_method(call.method);
  if (!method) return failure_answer(call, {"unknown_method", "", {}}, nullptr);
  if (!call.error.empty()) return failure_answer(call, {call.error, "", {}}, nullptr);
  const Token* token = nullptr;
  if (MaybeFailure failure = check_caller(world, call, *method, token)) return failure_answer(call, *failure, token);

  MethodContext context{world.workspace, world.tokens, world.behaviour, call, token, now_ms, max_items, {}, false};
  context.out.object().field("ok", true);
  if (MaybeFailure failure = method->run(context)) return failure_answer(call, *failure, token);
  write_warnings(call, {}, context.metadata_written, context.out);
  context.out.end_object();

  Performed answer;
  answer.http.body = context.out.str();
  add_scope_headers(method, token, answer.http);
  return answer;
}

}  // namespace krux::test::slack
