// Outbound HTTP as the rest of core sees it.
#pragma once

#include <kruxos/abi/base.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/adapter/call.hpp"

namespace krux {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header of that name (any case), or nothing.
std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name);

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< absolute; AccountHttp also takes one relative to the service's api_base_url
  HttpHeaders headers;
  std::string body;
  /// Instead of `body`: fills a buffer, returns how many bytes, 0 at the end, -1 on failure; with the exact length.
  std::function<std::int64_t(char*, std::size_t)> body_source;
  std::int64_t body_length = -1;
  std::int64_t timeout_ms = 0;           ///< 0: default (30 s); never beyond the call's deadline
  std::uint64_t max_response_bytes = 0;  ///< 0: default (64 MiB)

  /// The adapter's word that a POST only reads. AccountHttp refuses it where the definition does not permit that; what
  /// it lets through counts as safe.
  bool only_reads = false;

  bool safe() const { return only_reads || method == "GET" || method == "HEAD" || method == "OPTIONS"; }
};

/// Receives an answer in parts; each returns false for "stop" (the exchange then fails with KRUX_CANCELLED).
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual bool head(int status, const HttpHeaders& headers) = 0;
  virtual bool body(std::string_view bytes) = 0;
};

/// How an exchange ended. status KRUX_OK: a complete answer was received. message never contains a credential.
struct HttpOutcome {
  krux_status status = KRUX_OK;
  std::string message;
  std::optional<std::int64_t> retry_after_ms;
};

/// Blocking, any thread. Implementations bind every send to `call`: refused once it has ended, cancelled with it,
/// bounded by its deadline; unsafe requests are announced to it (begin_unsafe_request, request_answered).
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual HttpOutcome send(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink) = 0;
};

/// A sink that keeps the answer in memory.
struct HttpResponse final : HttpSink {
  int status = 0;
  HttpHeaders headers;
  std::string text;
  bool head(int s, const HttpHeaders& h) override {
    status = s;
    headers = h;
    return true;
  }
  bool body(std::string_view bytes) override {
    text += bytes;
    return true;
  }
};

}  // namespace krux
