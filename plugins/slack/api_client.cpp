#include "api_client.hpp"

#include <algorithm>
#include <charconv>

#include "timestamp.hpp"

namespace slack {
namespace {

using kruxos::ErrorKind;

constexpr std::uint64_t kLargestAnswer = 32 << 20;

std::int64_t retry_after_ms(const kruxos::HttpResponse& response) {
  const auto* value = response.header("Retry-After");
  std::int64_t seconds = 0;
  if (!value || std::from_chars(value->data(), value->data() + value->size(), seconds).ec != std::errc()) return -1;
  return std::clamp<std::int64_t>(seconds, 0, 86'400) * 1000;
}

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
  if (response.status >= 400 && response.status < 500 && response.status != 408) {
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
  const auto is_object = [](const Json& item) { return item.IsObject(); };
  const auto* items = member(answer.body, name);
  if (items && items->IsArray() && std::all_of(items->Begin(), items->End(), is_object)) return *items;
  throw SlackError(ErrorKind::kUnavailable, "Slack's " + what + " is not what its API promises.", "");
}

Paging paging_of(const Answer& answer, std::string_view asked_with) {
  const auto* metadata = member(answer.body, "response_metadata");
  Paging paging{metadata ? clean(text_of(*metadata, "next_cursor")) : "", flag_of(answer.body, "has_more")};
  if (!paging.cursor.empty() && paging.cursor == asked_with) {
    throw SlackError(ErrorKind::kUnavailable, "Slack's pages do not advance.", "");
  }
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
  if (!result.ok()) {
    SlackError error(*result.error, result.message, "");
    error.retry_after_ms(result.retry_after_ms);
    const bool unsent = error.kind() == ErrorKind::kRateLimited || error.kind() == ErrorKind::kAuth ||
                        error.kind() == ErrorKind::kInvalid;
    if (unsent) error.no_effect();  // the host refuses these before it sends anything
    throw error;
  }
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

std::string form(const Params& params) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      const auto u = static_cast<unsigned char>(c);
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                         c == '.' || c == '_' || c == '~';
      if (plain) {
        out += c;
      } else {
        out += '%';
        out += digits[u >> 4];
        out += digits[u & 15];
      }
    }
  };
  for (const auto& [name, value] : params) {
    if (!out.empty()) out += '&';
    add(name);
    out += '=';
    add(value);
  }
  return out;
}

}  // namespace slack
