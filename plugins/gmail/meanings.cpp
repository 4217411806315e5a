// What Gmail's refusals mean: {"error": {"code", "message", "status", "errors": [{"domain", "reason"}]}}.
#include <algorithm>
#include <kruxos/kit/text.hpp>
#include <kruxos/kit/time.hpp>

#include "api_client.hpp"

namespace gmail {
namespace {

using kruxos::ErrorKind;

// As much of a service's word as may stand in a sentence.
constexpr std::size_t kLongestWord = 300;

struct Refusal {
  std::string reason, status, message;
};

Refusal refusal_of(const std::string& body) {
  Refusal out;
  const auto json = parse(body);
  const auto* error = json.HasParseError() ? nullptr : member(json, "error");
  if (!error || !error->IsObject()) return out;
  out.status = text_of(*error, "status");
  out.message = printable(text_of(*error, "message"), kLongestWord);
  const auto* errors = array_of(*error, "errors");
  if (errors && !errors->Empty()) out.reason = printable(text_of((*errors)[0], "reason"), kLongestWord);
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

std::int64_t wait_ms(const kruxos::HttpResponse& response, const Refusal& refusal, std::int64_t now_ms) {
  constexpr std::int64_t day_ms = 86'400'000;
  if (const auto wait = retry_after_ms(response); wait >= 0) return wait;
  // "User-rate limit exceeded.  Retry after 2026-05-29T12:00:05.000Z"
  constexpr std::string_view words = "Retry after ";
  auto at = refusal.message.find(words);
  if (at == std::string::npos) return -1;
  at += words.size();
  const auto until = parse_rfc3339_at(refusal.message, at);
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
  return {ErrorKind::kUnavailable, "ServiceUnavailable", "Gmail did not answer as it should", says_no_effect(status)};
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
  if (meaning.kind == ErrorKind::kRateLimited) error.retry_after_ms(wait_ms(response, refusal, now_ms));
  return error;
}

GmailError malformed(std::string_view what) {
  GmailError error(ErrorKind::kUnavailable, "Gmail's answer to " + std::string(what) + " is not what its API promises.",
                   kMalformed);
  error.type("ServiceUnavailable");
  return error;
}

}  // namespace gmail
