// kruxos/kit/http.hpp - what the outcomes of HTTP mean, and addresses and forms for requests. Needs no RapidJSON.
#pragma once
#include <kruxos/adapter/call.hpp>
#include <kruxos/adapter/http.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace kruxos::kit {

inline bool is_success(const HttpResponse& response) {
  return response.status >= 200 && response.status < 300;
}

/// Milliseconds by the header Retry-After, a day at most; -1 where it is missing or gives no number of seconds.
inline std::int64_t retry_after_ms(const HttpResponse& response) {
  const auto* value = response.header("Retry-After");
  std::int64_t seconds = 0;
  if (!value) return -1;
  const auto* end = value->data() + value->size();
  if (const auto [at, problem] = std::from_chars(value->data(), end, seconds); problem != std::errc() || at != end)
    return -1;
  return std::clamp<std::int64_t>(seconds, 0, 86'400) * 1000;
}

/// The service, or something before it, has said that it did nothing: 4xx but 408, which comes when a request was under
/// way. A 5xx leaves open what happened, and so does anything that is no answer to what was asked.
inline bool says_no_effect(int status) {
  return status >= 400 && status < 500 && status != 408;
}

/// The host refuses so before it sends anything.
inline bool was_not_sent(ErrorKind kind) {
  return kind == ErrorKind::kRateLimited || kind == ErrorKind::kAuth || kind == ErrorKind::kInvalid;
}

/// Several parts in a row that fail so: it is the service, not the part.
inline bool is_no_answer(ErrorKind kind) {
  return kind == ErrorKind::kNetwork || kind == ErrorKind::kTimeout || kind == ErrorKind::kUnavailable;
}

/// Why there is no response, as an Error of the adapter's own, made of (kind, message, more...).
template <class Error = ProxyError, class... More>
Error failure_of(const HttpResult& result, More&&... more) {
  Error error(*result.error, result.message, std::forward<More>(more)...);
  error.retry_after_ms(result.retry_after_ms);
  if (was_not_sent(error.kind())) error.no_effect();
  return error;
}

/// What an answer other than 2xx means at most services. `who` begins the sentence: "The notes service". An adapter
/// adds the types of its definition, and throws something else where its service means something else.
inline ProxyError error_of(const HttpResponse& response, const std::string& who) {
  const auto status = response.status;
  const auto error = [&](ErrorKind kind, const std::string& what) {
    ProxyError made(kind, who + what + " (HTTP " + std::to_string(status) + ").");
    if (says_no_effect(status)) made.no_effect();
    return made;
  };
  if (status == 401 || status == 403) return error(ErrorKind::kAuth, " refuses the token");
  if (status == 404) return error(ErrorKind::kNotFound, " does not have that");
  if (status == 410) return error(ErrorKind::kNotFound, " no longer has that");
  if (status == 429) {
    auto limited = error(ErrorKind::kRateLimited, " asks to slow down");
    limited.retry_after_ms(retry_after_ms(response));
    return limited;
  }
  if (says_no_effect(status)) return error(ErrorKind::kRefused, " refused the request");
  return error(ErrorKind::kUnavailable, " did not answer as it should");
}

/// A request with a JSON body, or without one.
inline HttpRequest json_request(std::string method, std::string url, std::string body = {}) {
  HttpRequest request;
  request.method = std::move(method);
  request.url = std::move(url);
  request.body = std::move(body);
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  return request;
}

/// A text as a path segment, or a query's name or value.
inline std::string encoded(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += {'%', digits[u >> 4], digits[u & 15]};
    }
  }
  return out;
}

using Params = std::vector<std::pair<std::string, std::string>>;

/// "name=value&...": what stands behind the "?" of an address, and a body that is application/x-www-form-urlencoded.
inline std::string form(const Params& params) {
  std::string out;
  for (const auto& [name, value] : params) {
    if (!out.empty()) out += '&';
    out.append(encoded(name)).append("=").append(encoded(value));
  }
  return out;
}

}  // namespace kruxos::kit
