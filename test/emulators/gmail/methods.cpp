#include "emulators/gmail/methods.hpp"

#include "emulators/gmail/body_check.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/fields.hpp"

namespace krux::test::gmail {
namespace {

const char* const kCommonParameters[] = {"fields",      "alt",      "prettyPrint", "key",        "quotaUser",
                                         "oauth_token", "callback", "$.xgafv",     "uploadType", "upload_protocol"};

bool knows_parameter(const Method& method, const std::string& name) {
  const auto is = [&](const char* known) { return name == known; };
  return std::any_of(std::begin(kCommonParameters), std::end(kCommonParameters), is) ||
         std::any_of(method.parameters.begin(), method.parameters.end(), is);
}

MaybeFailure check_parameters(const Call& call) {
  for (const auto& [name, values] : call.query) {
    if (!knows_parameter(*call.target, name)) return unknown_query_name(name);
  }
  const std::string alt = call.in_query("alt");
  if (!alt.empty() && alt != "json") return invalid_value("alt", "type.googleapis.com/google.api.Alt", alt);
  for (const char* name : {"includeSpamTrash", "prettyPrint", "deleted", "neverMarkSpam", "processForCalendar"}) {
    const std::string value = call.in_query(name);
    if (!value.empty() && value != "true" && value != "false") return invalid_value(name, "TYPE_BOOL", value);
  }
  if (call.query.count("fields") != 0 && !parse_fields(call.in_query("fields"))) {
    Failure failure = invalid_argument("Invalid field selection " + call.in_query("fields"));
    failure.reason = "invalidParameter";
    failure.location = "fields";
    failure.location_type = "parameter";
    return failure;
  }
  return std::nullopt;
}

MaybeFailure check_access(const Call& call, const std::optional<Access>& access) {
  if (call.token.empty()) return missing_credentials();
  if (!access) return invalid_credentials();
  const bool allowed = std::any_of(call.target->scopes.begin(), call.target->scopes.end(),
                                   [&](const char* scope) { return access->has(scope); });
  if (!allowed) return missing_scope(call.target->id);
  const std::string user = call.in_path("userId");
  if (user == "me" || lower(user) == lower(access->address)) return std::nullopt;
  return forbidden("Delegation denied for " + access->address);
}

Performed to_performed(const Failure& failure) {
  return {to_answer(failure), failure.reason};
}

HttpAnswer success(const Call& call, MethodContext& context) {
  HttpAnswer answer;
  if (context.no_content) {
    answer.status = 204;
    answer.content_type.clear();
    return answer;
  }
  answer.content_type = "application/json; charset=UTF-8";
  answer.body = context.out.end_object().str();
  const bool pretty = call.in_query("prettyPrint") != "false";
  if (call.query.count("fields") == 0 && !pretty) return answer;
  rapidjson::Document document;
  parse_json(answer.body, document);
  if (call.query.count("fields") != 0) keep_fields(document, *parse_fields(call.in_query("fields")));
  answer.body = pretty ? to_pretty_json(document) : to_json(document);
  return answer;
}

}  // namespace

const Message* MethodContext::message(const char* name, MaybeFailure& failure) const {
  const auto id = parse_id(call.in_path(name));
  if (!id) {
    failure = invalid_argument("Invalid id value");
    return nullptr;
  }
  const Message* found = mailbox.find(*id);
  if (!found) failure = not_found();
  return found;
}

Performed run_method(State& state, const Call& call) {
  if (!call.target) return to_performed(not_found("Method not found."));
  const std::optional<Access> access = state.access(call.token);
  if (auto failure = check_access(call, access)) return to_performed(*failure);
  if (call.failure) return to_performed(*call.failure);
  if (auto failure = check_parameters(call)) return to_performed(*failure);
  if (auto failure = check_body(call)) return to_performed(*failure);
  MethodContext context{state, state.mailbox(access->address), call, *access, state.clock.now_ms(), {}, false};
  context.out.object();
  if (auto failure = call.target->run(context)) return to_performed(*failure);
  return {success(call, context), ""};
}

}  // namespace krux::test::gmail
