#include "emulators/gmail/failure.hpp"

#include <fmt/format.h>
#include <time.h>

#include "emulators/common/json_out.hpp"

namespace krux::test::gmail {

namespace {

HttpAnswer page_of(const Failure& failure) {
  HttpAnswer answer;
  answer.status = failure.code;
  answer.content_type = "text/html; charset=UTF-8";
  answer.body = failure.page;
  return answer;
}

}  // namespace

HttpAnswer to_answer(const Failure& failure) {
  if (!failure.page.empty()) return page_of(failure);
  JsonOut out;
  out.object().object("error").field("code", failure.code).field("message", failure.message);
  out.array("errors").object();
  out.field("message", failure.short_message.empty() ? failure.message : failure.short_message)
      .field("domain", failure.domain);
  out.field("reason", failure.reason);
  if (!failure.location.empty()) out.field("location", failure.location);
  if (!failure.location_type.empty()) out.field("locationType", failure.location_type);
  out.end_object().end_array();
  if (!failure.status.empty()) out.field("status", failure.status);
  if (!failure.details.empty()) out.raw_field("details", failure.details);
  HttpAnswer answer;
  answer.status = failure.code;
  answer.content_type = "application/json; charset=UTF-8";
  answer.headers = failure.headers;
  answer.body = out.end_object().end_object().str();
  return answer;
}

Failure invalid_argument(std::string message) {
  Failure failure;
  failure.status = "INVALID_ARGUMENT";
  failure.reason = "invalidArgument";
  failure.message = std::move(message);
  return failure;
}

Failure not_found(std::string message) {
  Failure failure;
  failure.code = 404;
  failure.status = "NOT_FOUND";
  failure.reason = "notFound";
  failure.message = std::move(message);
  return failure;
}

Failure unknown_query_name(const std::string& name) {
  Failure failure =
      invalid_argument(fmt::format("Invalid JSON payload received. Unknown name \"{}\": Cannot bind query parameter. "
                                   "Field '{}' could not be found in "
                                   "request message.",
                                   name, name));
  failure.reason = "badRequest";
  return failure;
}

Failure unknown_body_name(const std::string& name, const std::string& place) {
  const std::string where = place.empty() ? "" : fmt::format(" at '{}'", place);
  Failure failure = invalid_argument(
      fmt::format("Invalid JSON payload received. Unknown name \"{}\"{}: Cannot find field.", name, where));
  failure.reason = "badRequest";
  return failure;
}

Failure invalid_value(const std::string& place, const std::string& type, const std::string& value) {
  return invalid_argument(fmt::format("Invalid value at '{}' ({}), \"{}\"", place, type, value));
}

Failure missing_credentials() {
  Failure failure;
  failure.code = 401;
  failure.status = "UNAUTHENTICATED";
  failure.reason = "required";
  failure.message =
      "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other "
      "valid "
      "authentication credential.";
  failure.short_message = "Login Required.";
  failure.location = "Authorization";
  failure.location_type = "header";
  failure.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"");
  return failure;
}

Failure invalid_credentials() {
  Failure failure = missing_credentials();
  failure.reason = "authError";
  failure.short_message = "Invalid Credentials";
  failure.message =
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
      "authentication credential.";
  failure.headers[0].second += ", error=\"invalid_token\"";
  return failure;
}

Failure missing_scope(const std::string& method) {
  Failure failure;
  failure.code = 403;
  failure.status = "PERMISSION_DENIED";
  failure.reason = "insufficientPermissions";
  failure.message = "Request had insufficient authentication scopes.";
  failure.short_message = "Insufficient Permission";
  JsonOut details;
  details.array().object().field("@type", "type.googleapis.com/google.rpc.ErrorInfo");
  details.field("reason", "ACCESS_TOKEN_SCOPE_INSUFFICIENT").field("domain", "googleapis.com").object("metadata");
  details.field("service", "gmail.googleapis.com").field("method", method).end_object().end_object().end_array();
  failure.details = details.str();
  failure.headers.emplace_back("WWW-Authenticate",
                               "Bearer realm=\"https://accounts.google.com/\", error=\"insufficient_scope\"");
  return failure;
}

Failure forbidden(std::string message) {
  Failure failure;
  failure.code = 403;
  failure.status = "PERMISSION_DENIED";
  failure.reason = "forbidden";
  failure.message = std::move(message);
  return failure;
}

Failure quota_exceeded(const std::string& kind, std::int64_t retry_at_ms) {
  Failure failure;
  failure.domain = kind == "429" ? "global" : "usageLimits";
  failure.code = kind == "429" ? 429 : 403;
  failure.status = kind == "429" ? "RESOURCE_EXHAUSTED" : "PERMISSION_DENIED";
  failure.reason = kind == "403_user" ? "userRateLimitExceeded" : "rateLimitExceeded";
  failure.message =
      kind == "403_rate"
          ? "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service "
            "'gmail.googleapis.com' for consumer 'project_number:1000'."
          : fmt::format("User-rate limit exceeded.  Retry after {}", format_rfc3339(retry_at_ms));
  return failure;
}

Failure request_too_large() {
  Failure failure;
  failure.code = 413;
  failure.reason = "requestTooLarge";
  failure.message = "Request Entity Too Large";
  failure.page =
      "<!DOCTYPE html>\n<html lang=en><title>Error 413 (Request Entity Too Large)</title>\n"
      "<p>The request is too large.</html>\n";
  return failure;
}

std::string format_rfc3339(std::int64_t ms) {
  const time_t seconds = static_cast<time_t>(ms / 1000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, ms % 1000);
}

}  // namespace krux::test::gmail
