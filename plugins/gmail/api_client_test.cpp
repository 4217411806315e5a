// What Gmail's answers mean.
#include "api_client.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

#include <kruxos/kit/time.hpp>

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace gmail;

namespace {

struct Service {
  kruxos::testing::FakeHost host;
  ApiClient api{host.host().http()};

  GmailError refused(FakeAnswer answer) {
    host.expect("GET", "gmail/v1/users/me/profile").answers(std::move(answer));
    kruxos::testing::FakeCall call(host.clock);
    try {
      api.get(call.call(), "getProfile", "gmail/v1/users/me/profile");
    } catch (const GmailError& error) {
      return error;
    }
    return GmailError(ErrorKind::kInternal, "it was taken");
  }
};

std::string refusal(int code, const std::string& reason, const std::string& message, const std::string& status = "") {
  return R"({"error":{"code":)" + std::to_string(code) + R"(,"message":")" + message +
         R"(","errors":[{"domain":"global",)" + R"("reason":")" + reason + R"("}],"status":")" + status + "\"}}";
}

}  // namespace

TEST_CASE("a refusal's kind and whether it certainly had no effect") {
  struct Row {
    int status;
    const char *reason, *state;
    ErrorKind kind;
    const char* type;
    bool no_effect;
  };
  using enum ErrorKind;
  const Row rows[] = {
      {401, "authError", "UNAUTHENTICATED", kAuth, "NotConnected", true},
      {403, "userRateLimitExceeded", "", kRateLimited, "RateLimited", true},
      {403, "rateLimitExceeded", "PERMISSION_DENIED", kRateLimited, "RateLimited", true},
      {403, "", "RESOURCE_EXHAUSTED", kRateLimited, "RateLimited", true},
      {403, "dailyLimitExceeded", "", kRateLimited, "RateLimited", true},
      {403, "insufficientPermissions", "PERMISSION_DENIED", kAuth, "NotConnected", true},
      {403, "accessNotConfigured", "", kAuth, "NotConnected", true},
      {403, "forbidden", "", kRefused, "WriteFailed", true},
      {429, "", "", kRateLimited, "RateLimited", true},
      {404, "notFound", "NOT_FOUND", kNotFound, "MessageNotFound", true},
      {400, "invalidArgument", "INVALID_ARGUMENT", kInvalid, "InvalidInput", true},
      {407, "", "", kUnavailable, "ServiceUnavailable", true},
      {408, "", "", kUnavailable, "ServiceUnavailable", false},
      {500, "backendError", "", kUnavailable, "ServiceUnavailable", false},
      {503, "", "", kUnavailable, "ServiceUnavailable", false},
      {302, "", "", kUnavailable, "ServiceUnavailable", false},
  };
  for (const auto& row : rows) {
    INFO(row.status << " " << row.reason);
    Service service;
    const auto error =
        service.refused(FakeAnswer::json(row.status, refusal(row.status, row.reason, "Why.", row.state)));
    CHECK(error.kind() == row.kind);
    CHECK(error.type() == row.type);
    CHECK(error.has_no_effect() == row.no_effect);
    CHECK(error.reason() == row.reason);
    CHECK(error.http_status() == row.status);
    CHECK(std::string(error.what()).find("Why.") != std::string::npos);
  }
}

TEST_CASE("how long to wait stands in a header, in the sentence, or nowhere") {
  Service service;
  CHECK(service.refused(FakeAnswer::rate_limited(7)).retry_after_ms() == 7'000);
  service.host.clock.now_ms = kruxos::kit::parse_rfc3339("2026-05-29T12:00:00Z").value();
  const auto until =
      refusal(429, "rateLimitExceeded", "User-rate limit exceeded.  Retry after 2026-05-29T12:15:00.000Z");
  CHECK(service.refused(FakeAnswer::json(429, until)).retry_after_ms() == 900'000);
  const auto past =
      refusal(403, "userRateLimitExceeded", "User-rate limit exceeded.  Retry after 2020-01-21T12:57:51.196Z");
  CHECK(service.refused(FakeAnswer::json(403, past)).retry_after_ms() == 1'000);
  CHECK(service.refused(FakeAnswer::json(429, "{}")).retry_after_ms() == -1);
}

TEST_CASE("answers that are not the API's are refused, and say nothing of the effect") {
  for (const char* body : {"<html>", "[]", "7", "{\"a\":", "\"x\""}) {
    Service service;
    const auto error = service.refused(FakeAnswer::with(200, body));
    CHECK(error.kind() == ErrorKind::kUnavailable);
    CHECK(error.reason() == kMalformed);
    CHECK_FALSE(error.has_no_effect());
  }
  Service service;
  CHECK(service.refused(FakeAnswer::with(500, std::string(1000, '['))).kind() == ErrorKind::kUnavailable);
}

TEST_CASE("what the host did not send had no effect") {
  Service service;
  const auto limited = service.refused(FakeAnswer::failed(ErrorKind::kRateLimited, "wait", 2'500));
  CHECK((limited.has_no_effect() && limited.retry_after_ms() == 2'500));
  CHECK_FALSE(service.refused(FakeAnswer::dropped()).has_no_effect());
}

TEST_CASE("several requests come back in their order, each with its own end") {
  Service service;
  service.host.expect("GET", "a").answers(200, R"({"id":"1"})");
  service.host.expect("GET", "b").answers(404, "{}");
  service.host.expect("GET", "c").answers(200, R"({"id":"3"})");
  kruxos::testing::FakeCall call(service.host.clock);
  const std::vector<std::string> urls{"a", "b", "c"};
  const auto got = service.api.get_many(call.call(), "x", urls);
  REQUIRE(got.size() == 3);
  CHECK(text_of(got[0].body, "id") == "1");
  REQUIRE(got[1].error);
  CHECK(got[1].error->kind() == ErrorKind::kNotFound);
  CHECK(text_of(got[2].body, "id") == "3");
}

TEST_CASE("a write sends its JSON, and an answer without content is an empty object") {
  Service service;
  service.host.expect("POST", "x/trash").with_body(R"({"a":1})").answers(204, "");
  kruxos::testing::FakeCall call(service.host.clock);
  CHECK(service.api.send(call.call(), "messages.trash", "POST", "x/trash", R"({"a":1})").IsObject());
}

TEST_CASE("a streamed refusal is read as such") {
  Service service;
  service.host.expect("GET", "x").answers(404, refusal(404, "notFound", "Gone."));
  kruxos::testing::FakeCall call(service.host.clock);
  std::string got;
  try {
    service.api.stream(call.call(), "messages.get", "x", [&](std::string_view part) { got += part; });
    FAIL("it was taken");
  } catch (const GmailError& error) {
    CHECK(error.kind() == ErrorKind::kNotFound);
    CHECK(error.reason() == "notFound");
  }
}

}  // namespace KRUXOS_TEST_FILE
