// An account's client over a transport that sends nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/net/account_http.hpp"

namespace krux::test {

inline constexpr const char* kToken = "xoxb-very-secret";

/// Keeps what it is asked to send and answers as told.
class FakeTransport final : public HttpTransport {
 public:
  struct Sent {
    std::string url, authorization, header, parameter;
  };
  HttpOutcome send(const CallContextPtr&, const Url& url, const HttpRequest&, const RequestSecret& secret,
                   HttpSink& sink) override {
    sent.push_back({url.origin() + url.target(), std::string(secret.value), std::string(secret.header),
                    std::string(secret.parameter)});
    if (outcome.status == KRUX_OK) {
      sink.head(status, headers);
      sink.body(body);
    }
    return outcome;
  }
  void stop() override {}

  std::vector<Sent> sent;
  HttpOutcome outcome;
  int status = 200;
  HttpHeaders headers;
  std::string body = "body";
};

struct Fixture {
  Fixture() {
    options.service = "svc";
    options.api_base_url = "https://api.example.com/v1/";
    options.hosts = {"files.example.com", "*.cdn.example.com", "odd.example.com:8443"};
    hooks.token = [this]() -> std::optional<BoundToken> {
      if (!connected) return std::nullopt;
      return BoundToken{make_secret(token), token_origin};
    };
    hooks.on_unauthorized = [this] { ++unauthorized; };
    hooks.observe = [this](const RequestRecord& r) { records.push_back(r); };
  }
  AccountHttp make() { return {options, transport, clock, hooks}; }
  CallContextPtr call(std::int64_t ms = 30'000) {
    return std::make_shared<CallContext>(CallOwner{"svc", "acc", 1, "", 0}, clock, clock.boot_ms() + ms);
  }
  HttpOutcome send(AccountHttp& http, const std::string& url, const std::string& method = "GET",
                   HttpHeaders headers = {}, const std::string& body = {}) {
    HttpRequest r;
    r.url = url;
    r.method = method;
    r.headers = std::move(headers);
    r.body = body;
    HttpResponse response;
    return http.send(call(), r, response);
  }

  DrivenClock clock;
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  AccountHttpOptions options;
  AccountHooks hooks;
  bool connected = true;
  std::string token = kToken, token_origin = "https://api.example.com";
  int unauthorized = 0;
  std::vector<RequestRecord> records;
};

}  // namespace krux::test
