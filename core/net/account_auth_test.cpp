// How an account's requests carry its token, and which POSTs only read.
#include <catch2/catch.hpp>

#include "core/net/account_http_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("a token by the definition's way goes to its origin alone, and never from the adapter") {
  Fixture f;
  f.options.auth = {AuthDefinition::Way::kQuery, "api_key", "", ""};
  f.transport->body = "next: https://api.example.com/v1/things?api_key=xoxb-very-secret&page=2";
  auto http = f.make();
  HttpRequest r;
  r.url = "things";
  HttpResponse answer;
  REQUIRE(http.send(f.call(), r, answer).status == KRUX_OK);
  CHECK(f.transport->sent.back().parameter == "api_key");
  CHECK(f.transport->sent.back().authorization == kToken);
  CHECK(f.transport->sent.back().url == "https://api.example.com/v1/things");
  CHECK(answer.text == "next: https://api.example.com/v1/things?page=2");
  CHECK(f.records.back().path == "things");
  REQUIRE(f.send(http, "https://files.example.com/x").status == KRUX_OK);
  CHECK(f.transport->sent.back().authorization.empty());
  for (const auto* url : {"things?api_key=mine", "https://files.example.com/x?api_key=mine"}) {
    const auto refused = f.send(http, url);
    CHECK(refused.status == KRUX_INVALID);
    CHECK_THAT(refused.message, Catch::Contains("api_key is set by the host alone"));
  }
  CHECK(f.transport->sent.size() == 2);
}

TEST_CASE("a token that does not fit the definition's way sends nothing") {
  Fixture f;
  f.options.auth = {AuthDefinition::Way::kBasic, "Authorization", "", ""};
  auto http = f.make();
  CHECK(f.send(http, "things").status == KRUX_AUTH);
  CHECK(f.transport->sent.empty());
  f.token = "user:password";
  CHECK(f.send(http, "things").status == KRUX_OK);
  CHECK_THAT(f.transport->sent.back().authorization, Catch::StartsWith("Basic "));
}

namespace {

HttpRequest marked(const std::string& url, const std::string& body, const char* type = "application/json") {
  HttpRequest r;
  r.method = "POST";
  r.url = url;
  r.body = body;
  r.headers = {{"Content-Type", type}};
  r.only_reads = true;
  return r;
}

}  // namespace

TEST_CASE("a POST that only reads does so where the definition says") {
  Fixture f;
  f.options.safe_posts = {{"search/*", false}, {"graphql", true}};
  auto http = f.make();
  HttpResponse answer;
  CallOwner owner{"svc", "acc", 1, "", 0};
  owner.sends = Sends::kSafe;
  const auto read = std::make_shared<CallContext>(owner, f.clock, f.clock.boot_ms() + 30'000);
  CHECK(http.send(read, marked("search/issues", "{}"), answer).status == KRUX_OK);
  CHECK(http.send(read, marked("graphql", R"({"query":"{a}"})"), answer).status == KRUX_OK);
  CHECK(read->wire() == WireState::kNothingSent);
  const auto sent = f.transport->sent.size();

  const auto refused = [&](const HttpRequest& r, const char* why) {
    const auto outcome = http.send(read, r, answer);
    CHECK(outcome.status == KRUX_INVALID);
    CHECK_THAT(outcome.message, Catch::Contains(why));
  };
  refused(marked("things", "{}"), "names no POST to this path");
  refused(marked("https://files.example.com/search/issues", "{}"), "names no POST to this path");
  refused(marked("graphql", R"({"query":"mutation {a}"})"), "which is no query");
  refused(marked("graphql?query=mutation%7Ba%7D", R"({"query":"{a}"})"), "has its whole document in a body");
  refused(marked("graphql", R"({"query":"{a}"})", "application/x-www-form-urlencoded"), "application/json");
  refused(marked("graphql", R"({"query":"{a}"})", "application/json; charset=utf-7"), "in UTF-8");
  auto twice = marked("graphql", R"({"query":"{a}"})");
  twice.headers.emplace_back("content-type", "application/x-www-form-urlencoded");
  refused(twice, "is there twice");
  auto disguised = marked("search/issues", "{}");
  disguised.headers.emplace_back("X-HTTP-Method-Override", "DELETE");
  refused(disguised, "another request");
  for (const auto* path : {"search/..;/things", "search/%67raphql"}) refused(marked(path, "{}"), "neither '%' nor ';'");
  auto streamed = marked("graphql", "");
  streamed.body_length = 3;
  streamed.body_source = [](char*, std::size_t) { return -1; };
  refused(streamed, "has its whole document in a body");
  auto put = marked("search/x", "{}");
  put.method = "PUT";
  refused(put, "only a POST is marked");
  auto unmarked = marked("search/issues", "{}");
  unmarked.only_reads = false;
  refused(unmarked, "sends GET, HEAD and OPTIONS alone");
  CHECK(f.transport->sent.size() == sent);
}

TEST_CASE("a POST that only reads is sent again with the renewed token") {
  Fixture f;
  f.options.safe_posts = {{"graphql", true}};
  f.transport->status = 401;
  f.hooks.renew = [&](const CallContextPtr&, std::string_view) -> HttpOutcome {
    f.token = "new";
    f.transport->status = 200;
    return {};
  };
  auto http = f.make();
  HttpResponse answer;
  CHECK(http.send(f.call(), marked("graphql", R"({"query":"{a}"})"), answer).status == KRUX_OK);
  CHECK(answer.status == 200);
  CHECK(f.transport->sent.back().authorization == "Bearer new");
}

}  // namespace KRUXOS_TEST_FILE
