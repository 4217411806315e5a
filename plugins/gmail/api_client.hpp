// Gmail's API over the host's HTTP client: JSON requests, several side by side, and what its refusals mean.
#pragma once

#include <kruxos/adapter.hpp>
#include <kruxos/kit/http.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json.hpp"
#include "mail_upload.hpp"

namespace gmail {

/// A refusal in Gmail's own words, kept for callers to whom some of them mean something.
class GmailError : public kruxos::ProxyError {
 public:
  GmailError(kruxos::ErrorKind kind, const std::string& message, std::string reason = {}, int status = 0)
      : ProxyError(kind, message), reason_(std::move(reason)), status_(status) {}
  const std::string& reason() const { return reason_; }  ///< "userRateLimitExceeded"; empty when Gmail gave none
  int http_status() const { return status_; }            ///< 0: there was no answer

 private:
  std::string reason_;
  int status_;
};

/// What an answer other than 2xx means. `what` names the request for people ("messages.get"). `now_ms`: Gmail tells
/// some waits as a moment.
GmailError error_of(std::string_view what, const kruxos::HttpResponse& response, std::int64_t now_ms);

/// An answer whose form is not the API's; its reason is kMalformed.
GmailError malformed(std::string_view what);
inline constexpr const char* kMalformed = "malformed";

/// One of several requests: a document, or why there is none.
struct Fetched {
  rapidjson::Document body;
  std::optional<GmailError> error;
};

class ApiClient {
 public:
  explicit ApiClient(kruxos::HttpClient http) : http_(http) {}

  /// One GET. Throws GmailError for anything but a JSON object; never repeats. `url` is relative to api_base_url.
  rapidjson::Document get(const kruxos::Call& call, std::string_view what, const std::string& url) const;

  /// One request that may have an effect; `body_json` empty: without a body. An answer without content (204) gives an
  /// empty object.
  rapidjson::Document send(const kruxos::Call& call, std::string_view what, const std::string& method,
                           const std::string& url, std::string body_json) const;

  /// One POST of a mail with its resource; `url` without a query. The mail is read once.
  rapidjson::Document upload(const kruxos::Call& call, std::string_view what, const std::string& url,
                             MailUpload& mail) const;

  /// GETs side by side, as many as the host lets through at once; results in their order.
  std::vector<Fetched> get_many(const kruxos::Call& call, std::string_view what,
                                std::span<const std::string> urls) const;

  /// One GET whose body goes to `on_body` part by part; `on_body` must take whatever a refusal says as well. Throws
  /// GmailError; what was given to `on_body` counts only when it does not.
  void stream(const kruxos::Call& call, std::string_view what, const std::string& url,
              const std::function<void(std::string_view)>& on_body) const;

 private:
  kruxos::HttpClient http_;
};

}  // namespace gmail
