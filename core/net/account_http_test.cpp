#include "core/net/account_http.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "core/net/account_http_fixture.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

QuotaRule rule(std::string match, double per_minute, std::string key = {}) {
  QuotaRule r;
  r.match = std::move(match);
  r.per_minute = per_minute;
  r.burst = 1;
  r.key = std::move(key);
  return r;
}

}  // namespace

TEST_CASE("a relative request goes to the base address with the token") {
  Fixture f;
  auto http = f.make();
  CHECK(f.send(http, "things?x=1").status == KRUX_OK);
  REQUIRE(f.transport->sent.size() == 1);
  CHECK(f.transport->sent[0].url == "https://api.example.com/v1/things?x=1");
  CHECK(f.transport->sent[0].authorization == std::string("Bearer ") + kToken);
}

TEST_CASE("the token goes to its own origin alone") {
  Fixture f;
  auto http = f.make();
  for (const auto* url :
       {"https://files.example.com/x", "https://a.cdn.example.com/x", "https://odd.example.com:8443/x"}) {
    CHECK(f.send(http, url).status == KRUX_OK);
    CHECK(f.transport->sent.back().authorization.empty());
  }
  f.token_origin = "https://files.example.com/whatever";
  CHECK(f.send(http, "things").status == KRUX_OK);
  CHECK(f.transport->sent.back().authorization.empty());
  CHECK(f.send(http, "https://files.example.com/x").status == KRUX_OK);
  CHECK_FALSE(f.transport->sent.back().authorization.empty());
  for (const auto* other :
       {"https://api.example.com:8443", "https://api.example.com.evil.com", "https://example.com"}) {
    f.token_origin = other;
    CHECK(f.send(http, "things").status == KRUX_OK);
    CHECK(f.transport->sent.back().authorization.empty());
  }
}

TEST_CASE("other hosts are not spoken to") {
  Fixture f;
  auto http = f.make();
  for (const auto* url :
       {"https://evil.example/x", "https://files.example.com.evil.example/", "https://xfiles.example.com/",
        "https://cdn.example.com/", "https://evilcdn.example.com/", "https://files.example.com:8443/",
        "https://odd.example.com/", "https://api.example.com:444/", "http://127.0.0.1/", "https://127.0.0.1/",
        "https://x@files.example.com/", "//files.example.com/", "../v2/x", "https:files.example.com", ""}) {
    INFO(url);
    CHECK(f.send(http, url).status == KRUX_INVALID);
  }
  CHECK(f.transport->sent.empty());
}

TEST_CASE("headers of the host's own and header injection are refused before anything is sent") {
  Fixture f;
  auto http = f.make();
  for (const auto& [name, value] : HttpHeaders{{"Authorization", "Bearer x"},
                                               {"cookie", "a=b"},
                                               {"HOST", "evil"},
                                               {"Proxy-Authorization", "x"},
                                               {"Connection", "close"},
                                               {"Content-Length", "0"},
                                               {"Transfer-Encoding", "chunked"},
                                               {"Accept-Encoding", "gzip"},
                                               {"X", "a\r\nAuthorization: b"},
                                               {"X", "a\nb"},
                                               {"X", std::string("a\0b", 3)},
                                               {"X\r\nY", "z"},
                                               {"", "z"}}) {
    INFO(name);
    CHECK(f.send(http, "x", "GET", {{name, value}}).status == KRUX_INVALID);
  }
  CHECK(f.send(http, "x", "GET\r\nX: y").status == KRUX_INVALID);
  CHECK(f.transport->sent.empty());
}

TEST_CASE("what a call may not send stays here") {
  Fixture f;
  auto http = f.make();
  const auto send = [&](Sends sends, const std::string& method) {
    CallOwner owner{"svc", "acc", 1, "", 0, sends};
    const auto call = std::make_shared<CallContext>(owner, f.clock, f.clock.boot_ms() + 1000);
    HttpRequest r;
    r.url = "things";
    r.method = method;
    HttpResponse response;
    const auto outcome = http.send(call, r, response);
    CHECK(call->requests() == (outcome.status == KRUX_OK ? 1 : 0));
    return outcome;
  };
  CHECK(send(Sends::kNothing, "GET").status == KRUX_INVALID);
  CHECK_THAT(send(Sends::kNothing, "GET").message, Catch::Contains("`fetches`"));
  CHECK_THAT(send(Sends::kSafe, "POST").message, Catch::Contains("GET, HEAD and OPTIONS alone"));
  CHECK(f.transport->sent.empty());
  CHECK(send(Sends::kSafe, "GET").status == KRUX_OK);
  CHECK(send(Sends::kAnything, "POST").status == KRUX_OK);
  CHECK(f.transport->sent.size() == 2);
}

TEST_CASE("an account without a token says how to connect") {
  Fixture f;
  f.connected = false;
  auto http = f.make();
  const auto outcome = f.send(http, "x");
  CHECK(outcome.status == KRUX_AUTH);
  CHECK_THAT(outcome.message, Catch::Contains("kruxos connect svc"));
  f.connected = true;
  f.token = "bad\r\ntoken";
  CHECK(f.send(http, "x").status == KRUX_AUTH);
  f.token = "";
  CHECK(f.send(http, "x").status == KRUX_AUTH);
  CHECK(f.transport->sent.empty());
}

TEST_CASE("a service without tokens needs none") {
  Fixture f;
  f.hooks.token = nullptr;
  auto http = f.make();
  CHECK(f.send(http, "x").status == KRUX_OK);
  CHECK(f.transport->sent.at(0).authorization.empty());
}

TEST_CASE("the token stands in no message and no record") {
  Fixture f;
  f.options.quota = {rule("limited", 1)};
  auto http = f.make();
  std::vector<std::string> texts;
  f.transport->status = 401;
  texts.push_back(f.send(http, "x?token=" + f.token).message);
  texts.push_back(f.send(http, "https://evil.example/?" + f.token).message);
  texts.push_back(f.send(http, "https://" + f.token + "@evil.example/").message);
  texts.push_back(f.send(http, "limited").message);
  texts.push_back(f.send(http, "limited").message);
  texts.push_back(f.send(http, "x", "GET", {{"X", f.token + "\n"}}).message);
  f.transport->outcome = {KRUX_NETWORK, "api.example.com could not be reached", {}};
  texts.push_back(f.send(http, "x").message);
  for (const auto& r : f.records) texts.push_back(r.method + r.path);
  for (const auto& text : texts) CHECK_THAT(text, !Catch::Contains(kToken));
  CHECK(texts.size() == 14);
}

TEST_CASE("a 401 to the token tells the host, one without the token does not") {
  Fixture f;
  f.transport->status = 401;
  auto http = f.make();
  CHECK(f.send(http, "x").status == KRUX_OK);
  CHECK(f.unauthorized == 1);
  CHECK(f.send(http, "https://files.example.com/x").status == KRUX_OK);
  CHECK(f.unauthorized == 1);
}

TEST_CASE("each request is observed without its query") {
  Fixture f;
  f.transport->status = 404;
  auto http = f.make();
  f.send(http, "a/b?q=private", "POST");
  f.send(http, "https://evil.example/x");
  REQUIRE(f.records.size() == 2);
  CHECK(f.records[0].method == "POST");
  CHECK(f.records[0].path == "a/b");
  CHECK(f.records[0].status == 404);
  CHECK(f.records[0].bytes == 4);
  CHECK(f.records[0].outcome == KRUX_OK);
  CHECK(f.records[1].outcome == KRUX_INVALID);
  CHECK(f.records[1].status == 0);
}

TEST_CASE("beyond the quota nothing is sent, and it says how long to wait") {
  Fixture f;
  f.options.quota = {rule("slow", 1), rule("chat", 1, "channel")};
  auto http = f.make();
  CHECK(f.send(http, "slow").status == KRUX_OK);
  const auto refused = f.send(http, "slow");
  CHECK(refused.status == KRUX_RATE_LIMITED);
  CHECK(refused.retry_after_ms.value_or(0) >= 60'000);
  CHECK(f.transport->sent.size() == 1);
  f.clock.advance(*refused.retry_after_ms);
  CHECK(f.send(http, "slow").status == KRUX_OK);
}

TEST_CASE("a parameter of the form or the query chooses the bucket") {
  Fixture f;
  f.options.quota = {rule("chat", 1, "channel")};
  auto http = f.make();
  const HttpHeaders form{{"content-type", "application/x-www-form-urlencoded; charset=utf-8"}};
  CHECK(f.send(http, "chat", "POST", form, "text=hi&channel=A").status == KRUX_OK);
  CHECK(f.send(http, "chat", "POST", form, "channel=%41&text=ho").status == KRUX_RATE_LIMITED);
  CHECK(f.send(http, "chat?x=1&channel=A").status == KRUX_RATE_LIMITED);
  CHECK(f.send(http, "chat", "POST", form, "channel=B").status == KRUX_OK);
  CHECK(f.send(http, "chat?channel=C").status == KRUX_OK);
  CHECK(f.send(http, "chat", "POST", {{"Content-Type", "application/json"}}, "channel=D").status == KRUX_OK);
  CHECK(f.send(http, "chat").status == KRUX_RATE_LIMITED);  // none given is a bucket too
}

TEST_CASE("a short wait for the quota is waited out on the clock") {
  Fixture f;
  f.options.quota = {rule("*", 60)};
  auto http = f.make();
  CHECK(f.send(http, "x").status == KRUX_OK);
  HttpOutcome outcome;
  std::thread waiting([&] { outcome = f.send(http, "x"); });
  while (f.clock.waiters() == 0) std::this_thread::yield();
  CHECK(f.transport->sent.size() == 1);
  f.clock.advance(f.clock.next_wake_boot_ms() - f.clock.boot_ms());
  waiting.join();
  CHECK(outcome.status == KRUX_OK);
  CHECK(f.transport->sent.size() == 2);
  REQUIRE(f.records.size() == 2);
  CHECK(f.records[0].quota_wait_ms == 0);
  CHECK(f.records[1].quota_wait_ms > 900);
  CHECK(f.records[1].ms == f.records[1].quota_wait_ms);
}

TEST_CASE("a read that fetches waits longer for the quota, within its deadline, and its call knows that it waits") {
  Fixture f;
  f.options.quota = {rule("*", 6)};
  auto http = f.make();
  CHECK(f.send(http, "x").status == KRUX_OK);
  CHECK(f.send(http, "x").status == KRUX_RATE_LIMITED);  // a sync comes back later instead
  CallOwner owner{"svc", "acc", 1, "", 0};
  owner.sends = Sends::kSafe;
  const auto read = [&](std::int64_t ms) {
    return std::make_shared<CallContext>(owner, f.clock, f.clock.boot_ms() + ms);
  };
  HttpRequest r;
  r.url = "x";
  HttpResponse response;
  CHECK(http.send(read(10'000), r, response).status == KRUX_RATE_LIMITED);  // it would be over before
  const auto call = read(30'000);
  using Told = std::vector<std::optional<CallAway>>;
  Told told;
  call->on_away([&](std::optional<CallAway> away) { told.push_back(away); });
  HttpOutcome outcome;
  std::thread waiting([&] { outcome = http.send(call, r, response); });
  while (f.clock.waiters() == 0) std::this_thread::yield();
  f.clock.advance(f.clock.next_wake_boot_ms() - f.clock.boot_ms());
  waiting.join();
  CHECK(outcome.status == KRUX_OK);
  CHECK(f.records.back().quota_wait_ms > 10'000);
  CHECK(told == Told{CallAway::kAwaitsQuota, std::nullopt, CallAway::kAtService, std::nullopt});
}

TEST_CASE("nobody waits for the quota beyond the call's deadline or its cancellation") {
  Fixture f;
  f.options.quota = {rule("*", 60)};
  auto http = f.make();
  CHECK(f.send(http, "x").status == KRUX_OK);
  HttpRequest r;
  r.url = "x";
  HttpResponse response;
  CHECK(http.send(f.call(500), r, response).status == KRUX_RATE_LIMITED);
  const auto call = f.call();
  HttpOutcome outcome;
  std::thread waiting([&] { outcome = http.send(call, r, response); });
  while (f.clock.waiters() == 0) std::this_thread::yield();
  call->cancel();
  waiting.join();
  CHECK(outcome.status == KRUX_CANCELLED);
  CHECK(f.transport->sent.size() == 1);
}

TEST_CASE("a call that has ended or run out sends nothing") {
  Fixture f;
  auto http = f.make();
  HttpRequest r;
  r.url = "x";
  HttpResponse response;
  const auto ended = f.call();
  ended->end();
  CHECK(http.send(ended, r, response).status == KRUX_CANCELLED);
  CHECK(http.send(f.call(0), r, response).status == KRUX_TIMEOUT);
  CHECK(f.transport->sent.empty());
}

TEST_CASE("what the service says in Retry-After is kept to") {
  Fixture f;
  auto http = f.make();
  f.transport->status = GENERATE(429, 503);
  f.transport->headers = {{"retry-after", "30"}};
  const auto refused = f.send(http, "x");
  CHECK(refused.status == KRUX_OK);
  CHECK(refused.retry_after_ms == 30'000);
  f.transport->status = 200;
  const auto waiting = f.send(http, "x");
  CHECK(waiting.status == KRUX_RATE_LIMITED);
  CHECK(waiting.retry_after_ms == 30'000);
  CHECK(f.transport->sent.size() == 1);
  f.clock.advance(30'000);
  CHECK(f.send(http, "x").status == KRUX_OK);  // a Retry-After in a good answer means nothing
  CHECK(f.send(http, "x").status == KRUX_OK);
}

TEST_CASE("options that make no sense are refused") {
  Fixture f;
  SECTION("base") {
    f.options.api_base_url = GENERATE("", "http://example.com/", "https://example.com/?x");
  }
  SECTION("hosts") {
    f.options.hosts = {
        GENERATE("", "*", "*.", "https://x.com", "x.com/", "x.com/y", "a@x.com", "*.1.2.3.4", "x.*.com")};
  }
  CHECK_THROWS_AS(f.make(), ConfigError);
}

TEST_CASE("a base address on the loopback may be plain http") {
  Fixture f;
  f.options.api_base_url = "http://127.0.0.1:9999/api";
  f.token_origin = "http://127.0.0.1:9999";
  auto http = f.make();
  CHECK(f.send(http, "x").status == KRUX_OK);
  CHECK(f.transport->sent.at(0).url == "http://127.0.0.1:9999/api/x");
  CHECK_FALSE(f.transport->sent.at(0).authorization.empty());
  CHECK(f.send(http, "http://127.0.0.1:9998/x").status == KRUX_INVALID);
}

TEST_CASE("a safe request that met a 401 is sent once more with the renewed token") {
  Fixture f;
  std::vector<std::string> used;
  f.hooks.renew = [&](const CallContextPtr&, std::string_view with) -> HttpOutcome {
    used.emplace_back(with);
    f.token = "renewed";
    if (used.size() == 1) f.transport->status = 200;
    return {};
  };
  f.transport->status = 401;
  auto http = f.make();
  HttpRequest r;
  r.url = "things";
  HttpResponse response;
  CHECK(http.send(f.call(), r, response).status == KRUX_OK);
  CHECK(response.status == 200);
  CHECK(response.text == "body");
  REQUIRE(f.transport->sent.size() == 2);
  CHECK(f.transport->sent[1].authorization == "Bearer renewed");
  CHECK(used == std::vector<std::string>{kToken});
  CHECK(f.unauthorized == 0);
  CHECK(f.records.size() == 1);
  // A 401 to that as well is the answer, and nothing more is tried.
  f.transport->status = 401;
  HttpResponse refused;
  CHECK(http.send(f.call(), r, refused).status == KRUX_OK);
  CHECK(refused.status == 401);
  CHECK(refused.text == "body");
  CHECK(f.transport->sent.size() == 4);
  CHECK(f.unauthorized == 1);
}

TEST_CASE("an unsafe request that met a 401 is never sent again") {
  Fixture f;
  int renewals = 0;
  f.hooks.renew = [&](const CallContextPtr&, std::string_view) -> HttpOutcome {
    ++renewals;
    return {};
  };
  f.transport->status = 401;
  auto http = f.make();
  HttpRequest r;
  r.url = "things";
  r.method = "POST";
  HttpResponse response;
  CHECK(http.send(f.call(), r, response).status == KRUX_OK);
  CHECK(response.status == 401);
  CHECK(f.transport->sent.size() == 1);
  CHECK(renewals == 1);
  // Also where the token cannot be had for now: the adapter must hear that its write did not happen.
  f.hooks.renew = [](const CallContextPtr&, std::string_view) -> HttpOutcome {
    return {KRUX_UNAVAILABLE, "not now", 1000};
  };
  auto other = f.make();
  HttpResponse second;
  CHECK(other.send(f.call(), r, second).status == KRUX_OK);
  CHECK(second.status == 401);
}

TEST_CASE("a token that cannot be renewed for now is no token that is refused") {
  Fixture f;
  f.hooks.renew = [](const CallContextPtr&, std::string_view) -> HttpOutcome {
    return {KRUX_UNAVAILABLE, "not now", 1000};
  };
  f.transport->status = 401;
  auto http = f.make();
  const auto outcome = f.send(http, "things");
  CHECK(outcome.status == KRUX_UNAVAILABLE);
  CHECK(outcome.retry_after_ms == 1000);
  CHECK(f.unauthorized == 0);
  f.hooks.ensure = [](const CallContextPtr&) -> HttpOutcome { return {KRUX_UNAVAILABLE, "it has ended", 2000}; };
  auto ended = f.make();
  CHECK(f.send(ended, "things").retry_after_ms == 2000);
  CHECK(f.transport->sent.size() == 1);
}

}  // namespace KRUXOS_TEST_FILE
