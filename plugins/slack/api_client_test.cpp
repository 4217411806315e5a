// What Slack's and the host's answers mean for an effect that was asked for.
#include "api_client.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace slack;

namespace {

struct Said {
  ErrorKind kind = ErrorKind::kInternal;
  bool no_effect = false;
  std::string type, message, name;
  std::int64_t retry_after_ms = -1;
};

Said said(const FakeAnswer& answer) {
  kruxos::testing::FakeHost host;
  host.on_request = [&](const kruxos::testing::FakeRequest&) { return answer; };
  const ApiClient client(host.host().http());
  kruxos::testing::FakeCall call(host.clock);
  try {
    client.call(call.call(), "chat.postMessage", {});
  } catch (const SlackError& e) {
    return {e.kind(), e.has_no_effect(), e.type(), e.what(), e.name(), e.retry_after_ms()};
  }
  FAIL("it was accepted: " << answer.body);
  return {};
}

FakeAnswer ok(const std::string& body) {
  return {200, body, {}, {}, "", -1};
}

Said said_error(const std::string& name) {
  return said(ok(R"({"ok":false,"error":")" + name + "\"}"));
}

}  // namespace

TEST_CASE("requests are POST forms, escaped whatever they hold") {
  kruxos::testing::FakeHost host;
  host.on_request = [](const kruxos::testing::FakeRequest&) { return ok(R"({"ok":true,"x":1})"); };
  const ApiClient client(host.host().http());
  kruxos::testing::FakeCall call(host.clock);
  const std::string odd = "a b&c=d%+\u00e9\n\"";
  const auto answer = client.call(call.call(), "chat.postMessage", {{"text", odd}, {"channel", "C1"}});
  CHECK(integer_of(answer.body, "x") == 1);
  REQUIRE(host.requests.size() == 1);
  CHECK(host.requests[0].method == "POST");
  CHECK(host.requests[0].url == "chat.postMessage");
  CHECK(host.requests[0].body == "text=a%20b%26c%3Dd%25%2B%C3%A9%0A%22&channel=C1");
  CHECK(host.requests[0].headers[0].second.starts_with("application/x-www-form-urlencoded"));
}

TEST_CASE("what Slack refuses before it acts certainly had no effect") {
  struct Row {
    const char* name;
    ErrorKind kind;
  };
  const Row rows[] = {{"channel_not_found", ErrorKind::kNotFound},  {"not_in_channel", ErrorKind::kRefused},
                      {"msg_too_long", ErrorKind::kRefused},        {"ratelimited", ErrorKind::kRateLimited},
                      {"rate_limited", ErrorKind::kRateLimited},    {"invalid_auth", ErrorKind::kAuth},
                      {"token_revoked", ErrorKind::kAuth},          {"missing_scope", ErrorKind::kAuth},
                      {"is_archived", ErrorKind::kRefused},         {"team_added_to_org", ErrorKind::kUnavailable},
                      {"request_timeout", ErrorKind::kUnavailable}, {"metadata_too_large", ErrorKind::kRefused}};
  for (const auto& row : rows) {
    INFO(row.name);
    const auto word = said_error(row.name);
    CHECK(word.kind == row.kind);
    CHECK(word.no_effect);
    CHECK(word.name == row.name);
    CHECK_FALSE(word.type.empty());
    CHECK(word.message.find(row.name) != std::string::npos);
  }
}

TEST_CASE("what may have happened is never called certain") {
  for (const char* name :
       {"internal_error", "fatal_error", "service_unavailable", "unknown_error", "something_new", ""}) {
    INFO(name);
    const auto word = said_error(name);
    CHECK(word.kind == ErrorKind::kUnavailable);
    CHECK_FALSE(word.no_effect);
  }
  for (const auto& answer : {ok("<html>"), ok(""), ok("[]"), ok("{}"), ok(R"({"ok":1})"), ok(R"({"ok":"true"})"),
                             ok("{\"ok\":true,\"x\":\"\xff\"}"), ok(std::string(1'000'000, '['))}) {
    const auto word = said(answer);
    CHECK(word.kind == ErrorKind::kUnavailable);
    CHECK_FALSE(word.no_effect);
  }
  for (const auto kind : {ErrorKind::kNetwork, ErrorKind::kTimeout, ErrorKind::kUnavailable, ErrorKind::kCancelled}) {
    CHECK_FALSE(said(FakeAnswer::failed(kind)).no_effect);
  }
}

TEST_CASE("what the host refuses to send certainly had no effect") {
  const auto limited = said(FakeAnswer::failed(ErrorKind::kRateLimited, "quota", 1234));
  CHECK(limited.no_effect);
  CHECK(limited.retry_after_ms == 1234);
  CHECK(said(FakeAnswer::failed(ErrorKind::kAuth)).no_effect);
  CHECK(said(FakeAnswer::failed(ErrorKind::kInvalid)).no_effect);
}

TEST_CASE("HTTP statuses") {
  const auto with = [](int status) { return said({status, "x", {}, {}, "", -1}); };
  for (const int status : {500, 502, 503, 504, 408, 301, 302, 204, 100}) {
    INFO(status);
    CHECK(with(status).kind == ErrorKind::kUnavailable);
    CHECK_FALSE(with(status).no_effect);
  }
  for (const int status : {400, 403, 404, 413, 431}) {
    CHECK(with(status).kind == ErrorKind::kUnavailable);
    CHECK(with(status).no_effect);
  }
  CHECK(with(401).kind == ErrorKind::kAuth);
}

TEST_CASE("Retry-After") {
  const auto limited = [](const std::string& value) {
    return said({429, "", {{"retry-after", value}}, {}, "", -1}).retry_after_ms;
  };
  CHECK(limited("30") == 30'000);
  CHECK(limited("0") == 0);
  CHECK(limited("999999999") == 86'400'000);
  CHECK(limited("-5") == 0);
  CHECK(limited("soon") == -1);
  CHECK(limited("") == -1);
  const auto word = said({429, "", {}, {}, "", -1});
  CHECK(word.kind == ErrorKind::kRateLimited);
  CHECK(word.no_effect);
  CHECK(word.retry_after_ms == -1);
}

TEST_CASE("a missing scope is named, and nothing of a service's words can be more than words") {
  const auto word = said(ok(R"({"ok":false,"error":"missing_scope","needed":"groups:read"})"));
  CHECK(word.message.find("\"groups:read\"") != std::string::npos);
  const auto odd = said(ok(R"({"ok":false,"error":"a\u0000b\u001b[31m)" + std::string(500, 'x') + "\"}"));
  CHECK(odd.message.find('\0') == std::string::npos);
  CHECK(odd.message.find('\x1b') == std::string::npos);
  CHECK(odd.message.size() < 300);
}

TEST_CASE("Slack's own time and the granted scopes come with the answer") {
  kruxos::testing::FakeHost host;
  host.on_request = [](const kruxos::testing::FakeRequest&) {
    return FakeAnswer{200,
                      R"({"ok":true})",
                      {{"date", "Sat, 21 Nov 2026 09:30:00 GMT"}, {"x-oauth-scopes", "chat:write,users:read"}},
                      {},
                      "",
                      -1};
  };
  const ApiClient client(host.host().http());
  kruxos::testing::FakeCall call(host.clock);
  const auto answer = client.call(call.call(), "auth.test", {});
  CHECK(answer.service_ms == 1'795'253'400'000);
  CHECK(answer.scopes == "chat:write,users:read");
}

}  // namespace KRUXOS_TEST_FILE
