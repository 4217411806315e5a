#include "core/oauth/token_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/net/retry_after.hpp"
#include "core/oauth/form.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::int64_t kTimeoutMs = 30'000;

/// Keeps an answer in wiped memory.
class SecretSink final : public HttpSink {
 public:
  int status = 0;
  std::string retry_after;
  SecretBytes bytes;

  bool head(int s, const HttpHeaders& headers) override {
    status = s;
    if (const auto value = find_header(headers, "Retry-After")) retry_after = *value;
    return true;
  }
  bool body(std::string_view part) override {
    append(bytes, part);
    return bytes.size() <= kLargestTokenAnswer;
  }
};

HttpRequest form_request(const SecretBytes& form) {
  HttpRequest request;
  request.method = "POST";
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}};
  request.body_length = static_cast<std::int64_t>(form.size());
  request.body_source = [&form, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const auto n = std::min(size, form.size() - at);
    std::memcpy(buffer, form.data() + at, n);
    at += n;
    return static_cast<std::int64_t>(n);
  };
  request.timeout_ms = kTimeoutMs;
  request.max_response_bytes = kLargestTokenAnswer;
  return request;
}

/// A service that repeats what it was sent must not bring it into a sentence.
TokenResult without_secrets(TokenResult result, std::initializer_list<const Secret*> sent) {
  auto* failure = std::get_if<TokenFailure>(&result);
  if (!failure) return result;
  for (const auto* secret : sent) {
    if (secret->empty()) continue;
    if (failure->message.find(secret->reveal()) != std::string::npos) failure->message = "an error that names a secret";
    if (failure->error.find(secret->reveal()) != std::string::npos) failure->error.clear();
  }
  return result;
}

/// A token that the service does not know, or that works no more, is one that it has forgotten.
bool is_forgotten(std::string_view error) {
  return error == "invalid_token" || error == "token_revoked" || error == "token_expired" ||
         error == "account_inactive";
}

}  // namespace

struct TokenClient::Answer {
  HttpOutcome outcome;
  SecretSink sink;
  std::int64_t at_ms = 0;

  TokenResult parsed(const TokenAnswerRules& rules) {
    if (outcome.status != KRUX_OK)
      return TokenFailure{false, "", outcome.message.empty() ? "it gave no answer" : outcome.message,
                          outcome.retry_after_ms};
    auto result = parse_token_answer(sink.status, sink.bytes, rules);
    if (auto* failure = std::get_if<TokenFailure>(&result); failure && !failure->for_good)
      failure->retry_after_ms = parse_retry_after(sink.retry_after, at_ms);
    return result;
  }
};

TokenClient::Answer TokenClient::post(const AccountRef& account, const std::string& url, const SecretBytes& form) {
  Answer answer;
  const auto call = std::make_shared<CallContext>(
      CallOwner{account.service, account.account_id, account.generation, "", 0}, clock_, clock_.boot_ms() + kTimeoutMs);
  try {
    const auto request = form_request(form);
    answer.outcome = transport_->send(call, parse_url(url), request, {}, answer.sink);
  } catch (const Error& error) {
    answer.outcome = {KRUX_INVALID, error.what(), {}};
  }
  answer.at_ms = clock_.wall_ms();
  return answer;
}

TokenResult TokenClient::exchange_code(const std::string& service, const CodeGrant& grant) {
  SecretBytes form;
  append_pair(form, "grant_type", "authorization_code");
  append_pair(form, "code", grant.code.reveal());
  append_pair(form, "redirect_uri", grant.redirect_uri);
  append_pair(form, "client_id", grant.client_id);
  if (!grant.client_secret.empty()) append_pair(form, "client_secret", grant.client_secret.reveal());
  if (grant.flow.pkce) append_pair(form, "code_verifier", grant.verifier.reveal());
  auto answer = post({service, "", 0}, grant.token_url, form);
  return without_secrets(answer.parsed({grant.flow.token_at, false, false, grant.flow.token_types}),
                         {&grant.code, &grant.verifier, &grant.client_secret});
}

TokenResult TokenClient::refresh(const AccountRef& account, const Credential& credential, const Secret& refresh_token) {
  SecretBytes form;
  append_pair(form, "grant_type", "refresh_token");
  append_pair(form, "refresh_token", refresh_token.reveal());
  append_pair(form, "client_id", credential.client_id);
  if (!credential.client_secret.empty()) append_pair(form, "client_secret", credential.client_secret.reveal());
  auto answer = post(account, credential.token_url, form);
  // What kind of token it is was looked at when the account was connected.
  return without_secrets(answer.parsed({credential.token_at, true, true, {}}),
                         {&refresh_token, &credential.client_secret});
}

std::optional<std::string> TokenClient::revoke(const AccountRef& account, const Credential& credential) {
  // The refresh token first: it is the one that would outlive a failure. There are services where neither ends the
  // other.
  if (!credential.refresh_token.empty()) {
    if (auto why = revoke_one(account, credential, credential.refresh_token, "refresh_token")) return why;
  }
  return revoke_one(account, credential, credential.access_token, "access_token");
}

std::optional<std::string> TokenClient::revoke_one(const AccountRef& account, const Credential& credential,
                                                   const Secret& token, const char* kind) {
  SecretBytes form;
  append_pair(form, "token", token.reveal());
  append_pair(form, "token_type_hint", kind);
  append_pair(form, "client_id", credential.client_id);
  if (!credential.client_secret.empty()) append_pair(form, "client_secret", credential.client_secret.reveal());
  auto answer = post(account, credential.revoke_url, form);
  if (answer.outcome.status != KRUX_OK) return answer.outcome.message + ".";
  const auto status = answer.sink.status;
  const bool went_well = status >= 200 && status < 300;
  const auto result = without_secrets(parse_token_answer(status, answer.sink.bytes, {}),
                                      {&credential.refresh_token, &credential.access_token, &credential.client_secret});
  const auto* failure = std::get_if<TokenFailure>(&result);
  const auto error = failure ? failure->error : "";
  if (went_well && error.empty()) return std::nullopt;
  if ((went_well || status == 400) && is_forgotten(error)) return std::nullopt;
  return fmt::format("the service answered with status {}{}{}.", status, failure ? ": " : "",
                     failure ? failure->message : "");
}

}  // namespace krux
