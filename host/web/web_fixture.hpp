// The page on a real socket, over a host that answers what a test lays out, and a browser's part of it.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/storage/group_commit.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"
#include "host/operator/fake_operator.hpp"
#include "host/web/web_page.hpp"
#include "support/scratch.hpp"

namespace web_test {

using namespace krux;
using namespace krux::test;

inline const std::string kPassphrase = "a good passphrase", kId = "w_01234567-89ab-7cde-8f01-23456789abcd";

/// A write as the host shows it, with what a test puts behind: `more` begins with a comma.
inline std::string write_json(const std::string& state = "pending_approval", const std::string& more = {},
                              const std::string& params = R"({"channel":"C1","text":"Hello"})") {
  return R"({"write":{"write_id":")" + kId + R"(","agent":"assistant","service":"chat","account_id":"T1",)" +
         R"("operation":"chat.send","summary":"#general: Hello","recipients":{"to":["ann@a.example"]},)" +
         R"("session":{"session_id":"s","name":"morning","purpose":"tell the team"},"state":")" + state +
         R"(","content_hash":"aaaa","created_at_ms":1699999940000,"attempts":0,"tier":"approval_required",)" +
         R"("approval_reason":"The tier asks.","delay_ms":30000,"params":)" + params +
         R"(,"params_shown":{"channel":"#general","text":"Hello"})" + more + "}}";
}
inline std::string list_json(const std::string& state = "pending_approval") {
  const auto one = write_json(state);
  return R"({"writes":[)" + one.substr(9, one.size() - 10) + "]}";
}

struct WebFixture {
  support::Scratch scratch;
  DrivenClock clock{1'700'000'000'000};
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  OperatorSecret secret{store, clock, {1, 8192}, "me"};
  FakeOperator api;
  std::unique_ptr<web::WebPage> web;
  HttpServer server{1, HttpServer::Begin::kLater};
  std::uint16_t port = 0;
  std::string base, cookie, token;

  WebFixture() {
    secret.set(Secret(), Secret(kPassphrase), OperatorSecret::Present::kNeeded);
    web = std::make_unique<web::WebPage>(web::WebPage::Parts{api, secret, clock, {}});
    HttpLimits limits;
    limits.body_bytes = 256 * 1024;
    port = server.listen_tcp("127.0.0.1", 0, web->handler(), limits, std::nullopt, web->admission()).port;
    server.serve();
    api.answers["writes"] = R"({"writes":[]})";
    api.answers["write"] = write_json();
  }
  ~WebFixture() {
    web->stop();
    server.stop(0);
  }
  std::string authority() const { return "127.0.0.1:" + std::to_string(port); }
  RawAnswer raw(const std::string& bytes) const { return RawClient(port).ask(bytes); }
  std::string get_text(const std::string& path, const std::string& more = {}) const {
    return "GET " + path + " HTTP/1.1\r\nHost: " + authority() + "\r\n" +
           (cookie.empty() ? "" : "Cookie: other=1; " + cookie + "\r\n") + more + "\r\n";
  }
  RawAnswer get(const std::string& path, const std::string& more = {}) const { return raw(get_text(path, more)); }
  /// What a browser sends with a form of our own page, but for what `headers` says instead.
  std::string post_text(const std::string& path, const std::string& body, const std::string& headers) const {
    return "POST " + path + " HTTP/1.1\r\n" + headers + (cookie.empty() ? "" : "Cookie: " + cookie + "\r\n") +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string own_headers() const {
    return "Host: " + authority() + "\r\nOrigin: http://" + authority() +
           "\r\nContent-Type: application/x-www-form-urlencoded\r\n";
  }
  RawAnswer post(const std::string& path, const std::string& body) const {
    return raw(post_text(path, body, own_headers()));
  }
  RawAnswer sign_in(const std::string& passphrase = "a+good%20passphrase", const std::string& next = {}) {
    auto answer = post("/sign-in", "next=" + url_encode(next) + "&passphrase=" + passphrase);
    if (answer.status != 303) return answer;
    const auto location = answer.headers.at("Location"), set = answer.headers.at("Set-Cookie");
    base = location.substr(0, 36);
    cookie = set.substr(0, set.find(';'));
    return answer;
  }
  /// Signed in, with the token of its forms.
  void begin(const std::string& passphrase = "a+good%20passphrase") {
    REQUIRE(sign_in(passphrase).status == 303);
    const auto page = get(base).body;
    const std::string before = "name=\"token\" value=\"";
    const auto at = page.find(before);
    REQUIRE(at != std::string::npos);
    token = page.substr(at + before.size(), 32);
    api.asked();
  }
  std::string on(const std::string& action = {}) const {
    return base + "writes/" + kId + (action.empty() ? "" : "/" + action);
  }
  RawAnswer decide(const std::string& action, const std::string& more = "&content_hash=aaaa&state=pending_approval") {
    return post(on(action), "token=" + token + more);
  }
};

}  // namespace web_test
