// What Gmail's refusals mean: {"error": {"code", "message", "status", "errors": [{"domain", "reason"}]}}.
#include <algorithm>
#include <charconv>

#include "api_client.hpp"
#include "moment.hpp"

namespace gmail {
namespace {

using kruxos::ErrorKind;

/// As much of a service's word as may stand in a sentence.
std::string shown(std::string_view word) {
  std::string out;
  for (const char c : word.substr(0, 300)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

struct Refusal {
  std::string reason, status, message;
};

Refusal refusal_of(const std::string& body) {
  Refusal out;
  const auto json = parse(body);
  const auto* error = json.HasParseError() ? nullptr : member(json, "error");
  if (!error || !error->IsObject()) return out;
  out.status = text_of(*error, "status");
  out.message = shown(text_of(*error, "message"));
  const auto* errors = member(*error, "errors");
  if (errors && errors->IsArray() && !errors->Empty()) out.reason = shown(text_of((*errors)[0], "reason"));
  return out;
}

/// 403 for what others answer with 429.
bool is_about_quota(const Refusal& refusal) {
  constexpr std::string_view reasons[] = {"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded",
                                          "dailyLimitExceeded"};
  return refusal.status == "RESOURCE_EXHAUSTED" ||
         std::find(std::begin(reasons), std::end(reasons), refusal.reason) != std::end(reasons);
}

/// The connection as a whole is not allowed what was asked: nobody but the operator can change that.
bool is_about_access(const Refusal& refusal) {
  constexpr std::string_view reasons[] = {"insufficientPermissions", "accessNotConfigured", "domainPolicy",
                                          "delegationDenied", "SERVICE_DISABLED"};
  return refusal.status == "UNAUTHENTICATED" ||
         std::find(std::begin(reasons), std::end(reasons), refusal.reason) != std::end(reasons);
}

std::int64_t retry_after_ms(const kruxos::HttpResponse& response, const Refusal& refusal, std::int64_t now_ms) {
  constexpr std::int64_t day_ms = 86'400'000;
  std::int64_t seconds = 0;
  if (const auto* value = response.header("Retry-After")) {
    const auto read = std::from_chars(value->data(), value->data() + value->size(), seconds);
    if (read.ec == std::errc()) return std::clamp<std::int64_t>(seconds, 0, 86'400) * 1000;
  }
  // "User-rate limit exceeded.  Retry after 2026-05-29T12:00:05.000Z"
  constexpr std::string_view words = "Retry after ";
  const auto at = refusal.message.find(words);
  if (at == std::string::npos) return -1;
  const auto until = parse_moment(std::string_view(refusal.message).substr(at + words.size()));
  return until ? std::clamp<std::int64_t>(*until - now_ms, 1'000, day_ms) : -1;
}

struct Meaning {
  ErrorKind kind;
  const char* type;
  const char* sentence;
  bool no_effect;
};

Meaning meaning_of(int status, const Refusal& refusal) {
  const bool limited = status == 429 || (status == 403 && is_about_quota(refusal));
  if (limited) return {ErrorKind::kRateLimited, "RateLimited", "Gmail asks to slow down", true};
  if (status == 401) return {ErrorKind::kAuth, "NotConnected", "Gmail refused the token", true};
  if (status == 403 && is_about_access(refusal))
    return {ErrorKind::kAuth, "NotConnected", "Gmail does not allow this connection to do that", true};
  if (status == 404 || status == 410)
    return {ErrorKind::kNotFound, "MessageNotFound", "Gmail has nothing of that id", true};
  if (status == 400 || status == 412 || status == 413)
    return {ErrorKind::kInvalid, "InvalidInput", "Gmail does not accept the request", true};
  if (status == 403 || status == 409) return {ErrorKind::kRefused, "WriteFailed", "Gmail refuses this", true};
  // Between here and Gmail something refused; it may let the request through later.
  const bool refused = status >= 400 && status < 500 && status != 408;
  return {ErrorKind::kUnavailable, "ServiceUnavailable", "Gmail did not answer as it should", refused};
}

}  // namespace

GmailError error_of(std::string_view what, const kruxos::HttpResponse& response, std::int64_t now_ms) {
  const auto refusal = refusal_of(response.body);
  const auto meaning = meaning_of(response.status, refusal);
  std::string sentence =
      std::string(meaning.sentence) + " (" + std::string(what) + ", HTTP " + std::to_string(response.status);
  if (!refusal.reason.empty()) sentence += ", " + refusal.reason;
  sentence += refusal.message.empty() ? ")." : "): " + refusal.message;
  GmailError error(meaning.kind, sentence, refusal.reason, response.status);
  error.type(meaning.type);
  if (meaning.no_effect) error.no_effect();
  if (meaning.kind == ErrorKind::kRateLimited) error.retry_after_ms(retry_after_ms(response, refusal, now_ms));
  return error;
}

GmailError malformed(std::string_view what) {
  GmailError error(ErrorKind::kUnavailable, "Gmail's answer to " + std::string(what) + " is not what its API promises.",
                   kMalformed);
  error.type("ServiceUnavailable");
  return error;
}

}  // namespace gmail
