// Bodies of mails as agents get them.
#include "body.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

#include "json.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace gmail;

namespace {

rapidjson::Document json_of(const Body& body) {
  auto json = parse("{" + body.json + "}");
  REQUIRE_FALSE(json.HasParseError());
  return json;
}

const char* const kMail =
    "From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    "--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hello <b>there</b></p>\r\n"
    "--b\r\nContent-Type: text/csv; name=\"t.csv\"\r\nContent-Disposition: attachment; "
    "filename=\"t.csv\"\r\n\r\n1,2,3\r\n"
    "--b--\r\n";

struct Service {
  kruxos::testing::FakeHost host;
  ApiClient api{host.host().http()};
  ErrorKind kind = ErrorKind::kInternal;
  std::string type;

  void fetch(FakeAnswer answer) {
    host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(std::move(answer));
    kruxos::testing::FakeCall call(host.clock, kruxos::testing::CallKind::kFetch);
    try {
      fetch_body(call.call(), api, "m1");
      type = "taken";
    } catch (const kruxos::ProxyError& error) {
      kind = error.kind();
      type = error.type();
      CHECK(std::string(error.what()).size() > 20);
    }
  }
};

}  // namespace

TEST_CASE("what a mail hides is kept apart, and is neither searched nor shown as its beginning") {
  const auto body = body_of(
      "MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
      "<div style=\"display:none\">PREHEADER</div><p>The  message</p><p>goes on</p>",
      "m1", 0);
  const auto json = json_of(body);
  CHECK(text_of(json["body"], "text_plain") == "The message\n\ngoes on");
  CHECK(text_of(json["body"], "hidden_text") == "PREHEADER");
  CHECK(body.text.find("PREHEADER") == std::string::npos);
  CHECK(body.snippet == "The message goes on");
  CHECK_FALSE(json_of(body_of(kMail, "m1", 0))["body"].HasMember("hidden_text"));
  CHECK(body_of(kMail, "m1", 0).snippet.empty());
}

TEST_CASE("a body has its text, its HTML and its attachments") {
  const auto body = body_of(kMail, "m1", 1'700'000'000'000);
  const auto json = json_of(body);
  CHECK(text_of(json["body"], "message_id") == "m1");
  CHECK(text_of(json["body"], "text_html").find("<b>there</b>") != std::string_view::npos);
  CHECK(text_of(json["body"], "text_plain").find("Hello there") != std::string_view::npos);
  CHECK(text_of(json["body"], "cached_at") == "2023-11-14T22:13:20.000Z");
  REQUIRE(json["attachments"].Size() == 1);
  CHECK(text_of(json["attachments"][0], "filename") == "t.csv");
  CHECK(text_of(json["attachments"][0], "mime_type") == "text/csv");
  CHECK(body.text.find("Hello there") != std::string::npos);
}

TEST_CASE("a body fits into an answer, whatever it holds") {
  const auto body = body_of("Content-Type: text/plain\r\n\r\n" + std::string(5 << 20, '\x01'), "m1", 0);
  CHECK(body.json.size() < (7 << 20));
  json_of(body);
  for (const char* mail : {"", "\r\n", "\xff\xfe", "Content-Type: multipart/mixed\r\n\r\n", "Subject: x"}) {
    json_of(body_of(mail, "m1", 0));
  }
}

TEST_CASE("what keeps a body from being fetched") {
  Service service;
  service.fetch(FakeAnswer::json(200, R"({"raw":"SGVsbG8"})"));
  CHECK(service.type == "taken");
  service.fetch(FakeAnswer::json(404, "{}"));
  CHECK((service.type == "MessageNotFound" && service.kind == ErrorKind::kNotFound));
  service.fetch(FakeAnswer::json(500, "{}"));
  CHECK((service.type == "BodyFetchFailed" && service.kind == ErrorKind::kUnavailable));
  service.fetch(FakeAnswer::rate_limited(3));
  CHECK((service.type == "BodyFetchFailed" && service.kind == ErrorKind::kRateLimited));
  service.fetch(FakeAnswer::json(200, "{}"));
  CHECK(service.type == "BodyFetchFailed");
  service.fetch(FakeAnswer::truncated(FakeAnswer::json(200, R"({"raw":"SGVsbG8"})"), 8));
  CHECK(service.type == "BodyFetchFailed");
  service.fetch(FakeAnswer::json(401, "{}"));
  CHECK((service.type == "NotConnected" && service.kind == ErrorKind::kAuth));
}

}  // namespace KRUXOS_TEST_FILE
