#include "api_client.hpp"

#include <kruxos/kit/sync.hpp>

#include "timestamp.hpp"

namespace slack {
namespace {

using kruxos::ErrorKind;

constexpr std::uint64_t kLargestAnswer = 32 << 20;

std::int64_t date_ms(const kruxos::HttpResponse& response) {
  const auto* value = response.header("Date");
  return value ? parse_http_date(*value).value_or(0) : 0;
}

/// Refusals that HTTP itself tells. Slack says with 200 why it refuses; another 4xx is mostly from something between,
/// which did not let the request through and may later. A 5xx leaves open what happened.
void check_status(std::string_view method, const kruxos::HttpResponse& response) {
  if (response.status == 200) return;
  const std::string where = " (" + std::string(method) + ", HTTP " + std::to_string(response.status) + ").";
  if (response.status == 429) {
    SlackError error(ErrorKind::kRateLimited, "Slack asks to slow down" + where, "ratelimited");
    error.type("RateLimited").no_effect().retry_after_ms(retry_after_ms(response));
    throw error;
  }
  if (says_no_effect(response.status)) {
    const bool token = response.status == 401;
    const std::string what = token ? "Slack refused the token" : "Slack, or a proxy before it, refused the request";
    SlackError error(token ? ErrorKind::kAuth : ErrorKind::kUnavailable, what + where, "");
    error.type(token ? "NotConnected" : "ServiceUnavailable").no_effect();
    throw error;
  }
  SlackError error(ErrorKind::kUnavailable, "Slack did not answer as it should" + where, "");
  error.type("ServiceUnavailable");
  throw error;
}

}  // namespace

const Json& items_of(const Answer& answer, std::string_view name, const std::string& what) {
  if (const auto* items = objects_of(answer.body, name)) return *items;
  throw SlackError(ErrorKind::kUnavailable, "Slack's " + what + " is not what its API promises.", "");
}

Paging paging_of(const Answer& answer, std::string_view asked_with) {
  const auto* metadata = member(answer.body, "response_metadata");
  Paging paging{std::string(metadata ? text_of(*metadata, "next_cursor") : ""), flag_of(answer.body, "has_more")};
  need_progress<SlackError>(asked_with, paging.cursor, "Slack's pages do not advance.", "");
  return paging;
}

Answer ApiClient::call(const kruxos::Call& call, std::string_view method, const Params& params) const {
  kruxos::HttpRequest request;
  request.method = "POST";
  request.url = method;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  request.body = form(params);
  request.max_response_bytes = kLargestAnswer;
  const auto result = http_.send(call, request);
  if (!result.ok()) throw failure_of<SlackError>(result, "");
  check_status(method, result.response);
  Answer answer{parse(result.response.body), date_ms(result.response), {}};
  const auto* ok = answer.body.HasParseError() ? nullptr : member(answer.body, "ok");
  if (!ok || !ok->IsBool()) {
    SlackError error(ErrorKind::kUnavailable,
                     "Slack's answer to " + std::string(method) + " is not what its API promises.", "");
    error.type("ServiceUnavailable");
    throw error;
  }
  if (!ok->GetBool()) {
    auto error = error_of(method, text_of(answer.body, "error", "unknown_error"), &answer.body);
    if (error.kind() == ErrorKind::kRateLimited) error.retry_after_ms(retry_after_ms(result.response));
    throw error;
  }
  if (const auto* scopes = result.response.header("X-OAuth-Scopes")) answer.scopes = *scopes;
  return answer;
}

}  // namespace slack
