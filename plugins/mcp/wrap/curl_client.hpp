// The host's HTTP, for a program that is no host: the same table, kept by libcurl.
#pragma once
#include <kruxos/adapter.hpp>

#include <string>

namespace mcp {

/// Requests go to `base`, with the token as `Authorization: Bearer` where there is one. Any thread.
class CurlClient {
 public:
  CurlClient(std::string base, std::string token) : base_(std::move(base)), token_(std::move(token)) {}
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  kruxos::HttpClient client() const noexcept { return kruxos::HttpClient(&table_); }

 private:
  static krux_status send(void* self, const krux_call* call, const krux_http_request* request,
                          const krux_http_answer* answer) noexcept;
  static krux_status send_many(void*, const krux_call*, const krux_http_request* const*, const krux_http_answer* const*,
                               krux_status*, std::size_t) noexcept {
    return KRUX_UNSUPPORTED;
  }

  const std::string base_, token_;
  const krux_http_client table_{sizeof(krux_http_client), 0, this, &send, &send_many};
};

/// A call of no host: it ends `seconds` from now.
class PlainCall {
 public:
  explicit PlainCall(int seconds);
  PlainCall(const PlainCall&) = delete;
  PlainCall& operator=(const PlainCall&) = delete;
  kruxos::Call call() const noexcept { return kruxos::Call(&table_); }

 private:
  krux_call table_{};
};

}  // namespace mcp
