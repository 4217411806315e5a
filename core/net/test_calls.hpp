// Calls and requests for tests of the network.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "core/net/http_transport.hpp"

namespace krux::test {

inline SystemClock& system_clock() {
  static SystemClock clock;
  return clock;
}

/// On the real clock: sockets know no other time.
inline CallContextPtr real_call(std::int64_t ms = 20'000) {
  return std::make_shared<CallContext>(CallOwner{"svc", "acc", 1, "w_1", 1}, system_clock(),
                                       system_clock().boot_ms() + ms);
}

inline HttpRequest request(std::string method, std::string body = {}) {
  HttpRequest r;
  r.method = std::move(method);
  r.body = std::move(body);
  return r;
}

struct Answer {
  HttpOutcome outcome;
  HttpResponse response;
};

inline Answer exchange(HttpTransport& transport, const std::string& url, const HttpRequest& r,
                       const CallContextPtr& call = real_call(), std::string_view authorization = {}) {
  Answer answer;
  answer.outcome = transport.send(call, parse_url(url), r, authorization, answer.response);
  return answer;
}

inline Answer get(HttpTransport& transport, const std::string& url, const CallContextPtr& call = real_call()) {
  return exchange(transport, url, request("GET"), call);
}

class Stopwatch {
 public:
  std::int64_t ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace krux::test
