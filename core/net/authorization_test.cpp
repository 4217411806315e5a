#include "core/net/authorization.hpp"

#include <catch2/catch.hpp>

#include "core/net/request_head.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Way = AuthDefinition::Way;

namespace {

AuthDefinition auth(Way way, std::string name = "Authorization", std::string scheme = {}, std::string user = {}) {
  return {way, std::move(name), std::move(scheme), std::move(user)};
}

std::string head_with(const AuthDefinition& how, std::string_view user, std::string_view token,
                      const std::string& url = "https://api.example.com/a") {
  const auto made = authorization_of(how, user, token);
  if (!made) return "nothing";
  HttpRequest request;
  const auto head = request_head(request, parse_url(url), made->secret(), "test");
  return std::string(as_view(head));
}

/// What comes out of a body that comes in pieces of `size`.
std::string cleaned(const std::string& body, std::size_t size, const std::string& token = "s3cret/key") {
  HttpResponse out;
  const auto made = authorization_of(auth(Way::kQuery, "key"), "", token);
  KeyRemovingSink sink(out, *made, token);
  sink.head(200, {});
  for (std::size_t at = 0; at < body.size(); at += size) sink.body(std::string_view(body).substr(at, size));
  sink.finish();
  return out.text;
}

}  // namespace

TEST_CASE("a token stands where the definition says") {
  using Catch::Contains;
  CHECK_THAT(head_with({}, "", "t"), Contains("\r\nAuthorization: Bearer t\r\n"));
  CHECK_THAT(head_with(auth(Way::kHeader, "Authorization", "Bot"), "", "t"), Contains("\r\nAuthorization: Bot t\r\n"));
  CHECK_THAT(head_with(auth(Way::kHeader), "", "lin_1"), Contains("\r\nAuthorization: lin_1\r\n"));
  const auto named = head_with(auth(Way::kHeader, "PRIVATE-TOKEN"), "", "glpat-1");
  CHECK_THAT(named, Contains("\r\nPRIVATE-TOKEN: glpat-1\r\n") && !Contains("Authorization"));
  // RFC 7617, section 2.
  CHECK_THAT(head_with(auth(Way::kBasic), "", "Aladdin:open sesame"),
             Contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
  CHECK_THAT(head_with(auth(Way::kBasic, "Authorization", "", "user"), "Aladdin", "open sesame"),
             Contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
}

TEST_CASE("a key in the query is encoded, and stands in no header") {
  using Catch::Contains;
  const auto how = auth(Way::kQuery, "key");
  CHECK_THAT(head_with(how, "", "a b&c=/\xC3\xA4"),
             Contains("GET /a?key=a%20b%26c%3D%2F%C3%A4 HTTP/1.1\r\n") && !Contains("uthorization"));
  CHECK_THAT(head_with(how, "", "k1", "https://api.example.com/a?b=1"), Contains("GET /a?b=1&key=k1 HTTP/1.1\r\n"));
}

TEST_CASE("a token that cannot stand there is none") {
  CHECK(head_with({}, "", "") == "nothing");
  CHECK(head_with({}, "", "a\r\nX: y") == "nothing");
  CHECK(head_with(auth(Way::kBasic), "", "no colon") == "nothing");
  CHECK(head_with(auth(Way::kBasic, "Authorization", "", "user"), "", "password") == "nothing");
}

TEST_CASE("an adapter does not name by itself what carries the token") {
  const auto why = [](const AuthDefinition& how, const HttpHeaders& headers, const std::string& url) {
    return why_not_own_credential(how, headers, parse_url(url));
  };
  CHECK_FALSE(why(auth(Way::kHeader, "PRIVATE-TOKEN"), {{"private-token", "x"}}, "https://a.example/").empty());
  CHECK(why(auth(Way::kHeader, "PRIVATE-TOKEN"), {{"Other", "x"}}, "https://a.example/").empty());
  for (const auto* query : {"?key=1", "?a=1&key=", "?KEY=1", "?k%65y=1", "?a=1;key=2", "?key"}) {
    INFO(query);
    CHECK_FALSE(why(auth(Way::kQuery, "key"), {}, std::string("https://a.example/") + query).empty());
  }
  CHECK(why(auth(Way::kQuery, "key"), {}, "https://a.example/key?monkey=1&a=key").empty());
}

TEST_CASE("an answer does not bring a key of the query back, however it is cut") {
  for (const std::size_t size : {1, 2, 7, 1000}) {
    INFO(size);
    CHECK(cleaned("{\"next\":\"https://a/x?key=s3cret%2Fkey&page=2\"}", size) == "{\"next\":\"https://a/x?page=2\"}");
    CHECK(cleaned("https://a/x?page=2&key=s3cret%2Fkey end", size) == "https://a/x?page=2 end");
    CHECK(cleaned("https://a/x?a=1&key=s3cret%2Fkey&b=2", size) == "https://a/x?a=1&b=2");
    CHECK(cleaned("https://a/x?key=s3cret%2Fkey", size) == "https://a/x");
    CHECK(cleaned("echo s3cret/key s3cret%2Fkeys3cret/key", size) == "echo [removed] [removed][removed]");
    CHECK(cleaned("nothing of it, s3cret/ke", size) == "nothing of it, s3cret/ke");
    // A short one is taken out where it is named alone.
    CHECK(cleaned("a short x, key=x, ?key=x&b", size, "x") == "a short x, , ?b");
  }
  HttpResponse out;
  const auto made = authorization_of(auth(Way::kQuery, "key"), "", "s3cret-key");
  KeyRemovingSink sink(out, *made, "s3cret-key");
  sink.head(200, {{"Link", "<https://a/x?key=s3cret-key&page=2>; rel=\"next\""}, {"Location", "/y?key=s3cret-key"}});
  CHECK(out.headers[0].second == "<https://a/x?page=2>; rel=\"next\"");
  CHECK(out.headers[1].second == "/y");
}

TEST_CASE("a token that a service repeats does not reach the adapter, wherever an answer is cut") {
  const auto answered = [](const AuthDefinition& how, const std::string& user, const std::string& body,
                           std::size_t size) {
    const std::string token = "xoxb-1234-secret";
    HttpResponse out;
    const auto made = authorization_of(how, user, token);
    KeyRemovingSink sink(out, *made, token);
    sink.head(200, {{"X-Echo", "Bearer " + token}});
    for (std::size_t at = 0; at < body.size(); at += size) sink.body(std::string_view(body).substr(at, size));
    CHECK(sink.finish());
    CHECK(out.headers[0].second == "Bearer [removed]");
    return out.text;
  };
  for (const std::size_t size : {1U, 5U, 1000U}) {
    CHECK(answered(auth(Way::kHeader, "Authorization", "Bearer"), "", R"({"auth":"Bearer xoxb-1234-secret"})", size) ==
          R"({"auth":"Bearer [removed]"})");
    CHECK(answered(auth(Way::kHeader, "PRIVATE-TOKEN"), "", "xoxb-1234-secretxoxb-1234-secre", size) ==
          "[removed]xoxb-1234-secre");
    // As it was sent, and the token itself.
    CHECK(answered(auth(Way::kBasic, "Authorization", "", "user"), "ada",
                   "YWRhOnhveGItMTIzNC1zZWNyZXQ= xoxb-1234-secret", size) == "[removed] [removed]");
  }
}

TEST_CASE("what is no part of a token is passed on as it comes") {
  HttpResponse out;
  const auto made = authorization_of(auth(Way::kHeader, "Authorization", "Bearer"), "", "xoxb-1234-secret");
  KeyRemovingSink sink(out, *made, "xoxb-1234-secret");
  sink.head(200, {});
  // The end of an event, of a stream that stays open.
  sink.body("data: {}\n\n");
  CHECK(out.text == "data: {}\n\n");
  sink.body("data: xoxb-12");
  CHECK(out.text == "data: {}\n\ndata: ");
  sink.body("35\n\n");
  CHECK(out.text == "data: {}\n\ndata: xoxb-1235\n\n");
}

TEST_CASE("a short token is left where it may be any word of an answer") {
  HttpResponse out;
  const auto made = authorization_of(auth(Way::kHeader, "Authorization", "Bearer"), "", "t");
  KeyRemovingSink sink(out, *made, "t");
  sink.head(200, {{"X", "tt"}});
  sink.body("text");
  CHECK(sink.finish());
  CHECK(out.text == "text");
  CHECK(out.headers[0].second == "tt");
}

}  // namespace KRUXOS_TEST_FILE
