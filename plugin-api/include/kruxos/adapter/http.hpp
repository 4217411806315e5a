// kruxos/adapter/http.hpp - the host's HTTP client. The rules are in kruxos/abi/http.h: the host puts the token in,
// keeps to the quota and follows no redirect.
#pragma once
#include <kruxos/abi/http.h>
#include <kruxos/adapter/call.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kruxos {

/// Names in any case, several of one name possible.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// Must live until send() has returned. kruxos/abi/http.h gives the limits.
struct HttpRequest {
  std::string method = "GET";  ///< GET, HEAD and OPTIONS are safe; any other may have an effect
  std::string url;             ///< absolute, or relative to the service's api_base_url; percent-encoded
  Headers headers{};           ///< never Authorization, Cookie, Host: they are the host's to set
  std::string body{};
  /// Instead of `body`: fills a buffer, returns how many bytes, 0 at the end, -1 on failure. body_length is its exact
  /// length. Called on the thread of send(); what it throws, send() throws again.
  std::function<std::int64_t(char* buffer, std::size_t capacity)> body_source{};
  std::int64_t body_length = -1;
  std::uint32_t timeout_ms = 0;          ///< 0: the host's default, 30 s; never beyond the call's deadline
  std::uint64_t max_response_bytes = 0;  ///< 0: the host's default, 64 MiB
  /// This POST changes nothing (a GraphQL query, a search): it counts as safe where the definition's `http` section
  /// permits that, and is refused elsewhere. A host older than 1.2 takes it for one that may have an effect.
  bool only_reads = false;
};

struct HttpResponse {
  int status = 0;  ///< any HTTP status: a refusal of the service is a response too
  Headers headers;
  std::string body;

  /// The first header of that name, in any case; nullptr when there is none.
  const std::string* header(std::string_view name) const noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    for (const auto& [key, value] : headers) {
      bool same = key.size() == name.size();
      for (std::size_t i = 0; same && i < name.size(); ++i) same = lower(key[i]) == lower(name[i]);
      if (same) return &value;
    }
    return nullptr;
  }
};

/// How one exchange ended: `response` is complete when there is no error.
struct HttpResult {
  std::optional<ErrorKind> error;    ///< kruxos/abi/http.h says what each means, and whether anything was sent
  std::string message;               ///< with an error: what went wrong, as a sentence
  std::int64_t retry_after_ms = -1;  ///< with an error: how long to wait before the next try; -1: nobody said
  HttpResponse response;

  bool ok() const noexcept { return !error; }  ///< a complete response, whatever its status
  /// The response, or the error as ProxyError. That leaves open whether the request had an effect: the host knows by
  /// its own record whether anything was sent.
  const HttpResponse& or_throw() const {
    if (error) throw ProxyError(*error, message).retry_after_ms(retry_after_ms);
    return response;
  }
};

namespace detail {

/// One request and its answer in the boundary's terms. Pinned: the tables point into it.
class Exchange {
 public:
  using OnBody = std::function<bool(std::string_view)>;

  Exchange(const HttpRequest& request, OnBody on_body) : request_(request), on_body_(std::move(on_body)) {
    for (const auto& [name, value] : request.headers) headers_.push_back({to_abi(name), to_abi(value)});
    abi_request.size = sizeof(krux_http_request);
    abi_request.timeout_ms = request.timeout_ms;
    abi_request.method = to_abi(request.method);
    abi_request.url = to_abi(request.url);
    abi_request.body = to_abi(request.body);
    abi_request.body_source = request.body_source ? &source_ : nullptr;
    abi_request.headers = headers_.data();
    abi_request.header_count = headers_.size();
    abi_request.max_response_bytes = request.max_response_bytes;
    abi_request.flags = request.only_reads ? KRUX_HTTP_ONLY_READS : 0;
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  HttpResult take(krux_status status) {
    caught_.rethrow();
    if (status != KRUX_OK) {
      result_.error = static_cast<ErrorKind>(status);
      if (result_.message.empty()) result_.message = "The request could not be completed.";
    }
    return std::move(result_);
  }

  krux_http_request abi_request{};
  krux_http_answer abi_answer{sizeof(krux_http_answer), 0, this, &head, &body, &failed};

 private:
  static Exchange& of(void* self) noexcept { return *static_cast<Exchange*>(self); }
  static std::int32_t head(void* self, std::int32_t status, const krux_header* headers, std::size_t count) noexcept {
    return of(self).caught_.run([&] {
      auto& response = of(self).result_.response;
      response.status = status;
      for (std::size_t i = 0; i < count; ++i) {
        response.headers.emplace_back(from_abi(headers[i].name), from_abi(headers[i].value));
      }
      return true;
    });
  }
  static std::int32_t body(void* self, krux_str bytes) noexcept {
    auto& me = of(self);
    return me.caught_.run([&] {
      if (me.on_body_) return me.on_body_(from_abi(bytes));
      me.result_.response.body.append(from_abi(bytes));
      return true;
    });
  }
  static void failed(void* self, krux_str message, std::int64_t retry_after_ms) noexcept {
    of(self).caught_.run([&] {
      of(self).result_.message = from_abi(message);
      of(self).result_.retry_after_ms = retry_after_ms;
      return true;
    });
  }
  static std::int64_t read(void* self, char* buffer, std::size_t capacity) noexcept {
    std::int64_t got = -1;
    of(self).caught_.run([&] {
      got = of(self).request_.body_source(buffer, capacity);
      return true;
    });
    return got;
  }

  const HttpRequest& request_;
  OnBody on_body_;
  std::vector<krux_header> headers_;
  krux_source source_{this, request_.body_length, &read};
  HttpResult result_;
  Caught caught_;
};

}  // namespace detail

/// Cheap to copy; lives as long as the adapter. Any thread, within the call that is passed.
class HttpClient {
 public:
  /// Borrows the host's table; nullptr: every request throws kUnsupported.
  explicit HttpClient(const krux_http_client* client) noexcept : client_(client) {}

  /// Blocks until the answer is there or the exchange has failed. Throws only what the request's body_source throws.
  HttpResult send(const Call& call, const HttpRequest& request) const { return send(call, request, nullptr); }

  /// The same, giving the body to `on_body` part by part, on this thread, instead of keeping it; false stops. Look at
  /// the result before you use what came: the exchange may have failed in the middle.
  HttpResult send(const Call& call, const HttpRequest& request, std::function<bool(std::string_view)> on_body) const {
    detail::Exchange exchange(request, std::move(on_body));
    const auto status = need().send(client_->self, call.raw(), &exchange.abi_request, &exchange.abi_answer);
    return exchange.take(status);
  }

  /// Several at once (at most 1000), as many side by side as the account's quota allows. Results in the order of the
  /// requests; one that fails ends no other. body_source of different requests may be called from different threads.
  std::vector<HttpResult> send_many(const Call& call, std::span<const HttpRequest> requests) const {
    std::vector<std::unique_ptr<detail::Exchange>> exchanges;
    std::vector<const krux_http_request*> abi_requests;
    std::vector<const krux_http_answer*> abi_answers;
    for (const auto& request : requests) {
      exchanges.push_back(std::make_unique<detail::Exchange>(request, nullptr));
      abi_requests.push_back(&exchanges.back()->abi_request);
      abi_answers.push_back(&exchanges.back()->abi_answer);
    }
    std::vector<krux_status> statuses(requests.size(), KRUX_INTERNAL);
    detail::check(need().send_many(client_->self, call.raw(), abi_requests.data(), abi_answers.data(), statuses.data(),
                                   requests.size()),
                  "to send these requests");
    std::vector<HttpResult> results;
    for (std::size_t i = 0; i < exchanges.size(); ++i) results.push_back(exchanges[i]->take(statuses[i]));
    return results;
  }

 private:
  const krux_http_client& need() const {
    if (!client_) throw ProxyError(ErrorKind::kUnsupported, "This host lends no HTTP client.").no_effect();
    return *client_;
  }
  const krux_http_client* client_;
};

}  // namespace kruxos
