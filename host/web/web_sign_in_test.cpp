#include <algorithm>

#include "host/web/web_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace web_test;

TEST_CASE("signing in on the page takes the operator's passphrase and leads to pages of its own") {
  WebFixture f;
  const auto form = f.get("/");
  CHECK(form.status == 200);
  CHECK_THAT(form.body, Catch::Contains("type=\"password\"") && Catch::Contains("<label for=\"passphrase\">"));
  CHECK(f.sign_in("").status == 400);
  const auto answer = f.sign_in();
  REQUIRE(answer.status == 303);
  const auto location = answer.headers.at("Location"), set = answer.headers.at("Set-Cookie");
  CHECK(location.size() == 36);
  CHECK_THAT(set, Catch::Contains("Path=" + location + "; HttpOnly; SameSite=Strict") && !Catch::Contains("Max-Age"));
  // The cookie is no part of the address, and neither is enough.
  CHECK(set.find(location.substr(3, 32)) == set.find("Path=/s/") + 8);
  CHECK(f.get(f.base).status == 200);
  auto other = f.cookie;
  std::swap(f.cookie, other);
  f.cookie.back() = f.cookie.back() == '0' ? '1' : '0';
  CHECK(f.get(f.base).status == 303);
  f.cookie.clear();
  CHECK(f.get(f.base).headers.at("Location") == "/");
  CHECK(f.get(f.on()).headers.at("Location") == "/writes/" + kId);
  const auto led = f.get("/writes/" + kId);
  CHECK(led.status == 200);
  // Whoever comes to one write was led there, and reads what to look at first.
  CHECK_THAT(led.body, Catch::Contains("begins with http://127.0.0.1:") && !Catch::Contains("you yourself has led"));
  CHECK_THAT(form.body, Catch::Contains("you yourself has led") && !Catch::Contains("begins with"));
  f.cookie = other + "; " + other;
  CHECK(f.get(f.base).status == 303);
  f.cookie = other;
  CHECK(f.get("/s/" + std::string(32, '0') + "/").status == 303);
  CHECK(f.get(f.base.substr(0, 20) + "/").status == 404);
  const auto led_to = f.sign_in("a+good+passphrase", "/writes/" + kId).headers.at("Location");
  CHECK(led_to == f.base + "writes/" + kId);
  const auto nowhere = f.sign_in("a+good+passphrase", "//evil.example/").headers.at("Location");
  CHECK(nowhere == f.base);
}

TEST_CASE("wrong passphrases on the page wait, whoever gives them") {
  WebFixture f;
  const auto wrong = f.sign_in("a+guess");
  CHECK(wrong.status == 403);
  CHECK_THAT(wrong.body, Catch::Contains("possible in 1 s") && !Catch::Contains("guess"));
  CHECK(wrong.headers.count("Set-Cookie") == 0);
  CHECK(f.sign_in().status == 429);
  f.clock.advance(1000);
  for (std::int64_t wait = 2000; wait <= 64'000; wait *= 2) {
    CHECK(f.sign_in("a+guess").status == 403);
    f.clock.advance(std::min<std::int64_t>(wait, 60'000) - 1);
    CHECK(f.sign_in().status == 429);
    f.clock.advance(1);
  }
  CHECK(f.sign_in().status == 303);
}

TEST_CASE("a session of the page ends when nobody uses it, by signing out, and with another passphrase") {
  WebFixture f;
  f.begin();
  f.clock.advance(599'000);
  CHECK(f.get(f.base).status == 200);
  f.clock.advance(599'000);
  // What a script asks for by itself is no use of a person's.
  CHECK(f.get(f.base + "?live=1").status == 200);
  f.clock.advance(1'000);
  CHECK(f.get(f.base).status == 303);
  const auto late = f.decide("accept");
  CHECK(late.status == 403);
  CHECK_THAT(late.body, Catch::Contains("signed out meanwhile"));
  f.cookie.clear();
  f.begin();
  CHECK(f.post(f.base + "end", "token=" + f.token).status == 303);
  CHECK(f.get(f.base).status == 303);
  f.cookie.clear();
  f.begin();
  f.clock.advance(1000);
  f.secret.set(Secret(kPassphrase), Secret("another passphrase"), OperatorSecret::Present::kNeeded);
  CHECK(f.get(f.base).status == 303);
  CHECK(f.api.asked().empty());
  // Who signs in with the new one before anybody has looked again is not signed out.
  f.clock.advance(1000);
  f.secret.set(Secret("another passphrase"), Secret("a third passphrase"), OperatorSecret::Present::kNeeded);
  REQUIRE(f.sign_in("a+third+passphrase").status == 303);
  CHECK(f.get(f.base).status == 200);
}

TEST_CASE("where there are several operators the page asks for a name, and its session is his") {
  WebFixture f;
  CHECK_THAT(f.get("/").body, !Catch::Contains("name=\"operator\""));
  f.secret.add("bob", Secret("bob has one too"), "operator:me");
  const auto page = f.get("/").body;
  CHECK_THAT(page, Catch::Contains("name=\"operator\"") && !Catch::Contains("bob"));
  CHECK(f.sign_in().status == 403);
  f.clock.advance(60'000);
  CHECK(f.post("/sign-in", "operator=bob&passphrase=a+good+passphrase").status == 403);
  f.clock.advance(60'000);
  const auto unknown = f.post("/sign-in", "operator=nobody&passphrase=bob+has+one+too");
  CHECK(unknown.status == 403);
  CHECK_THAT(unknown.body, Catch::Contains("name or passphrase is wrong"));
  f.clock.advance(60'000);
  f.begin("bob+has+one+too&operator=bob");
  f.decide("accept");
  CHECK(f.api.asked() == std::vector<std::string>{"accept_write " + kId + " aaaa operator:bob"});
  CHECK_THAT(f.get(f.base).body, Catch::Contains("<p>bob</p>"));
  f.secret.remove("bob");
  CHECK(f.get(f.base).status == 303);
  CHECK(f.decide("accept").status == 403);
}

TEST_CASE("where no passphrase is set the page says how to set one") {
  WebFixture f;
  f.store.run([](SQLite::Database& db) { db.exec("DELETE FROM operators"); });
  OperatorSecret none(f.store, f.clock, {1, 8192});
  web::WebPage page({f.api, none, f.clock, {}});
  HttpServer server;
  const auto port = server.listen_tcp("127.0.0.1", 0, page.handler(), {}, std::nullopt, page.admission()).port;
  CHECK_THAT(RawClient(port).ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").body,
             Catch::Contains("kruxos operator set-passphrase") && !Catch::Contains("type=\"password\""));
  page.stop();
  server.stop(0);
}

TEST_CASE("a page of another site, or by another name, reaches nothing of the page") {
  WebFixture f;
  f.begin();
  const auto body = "token=" + f.token + "&content_hash=aaaa&state=pending_approval";
  const auto type = std::string("Content-Type: application/x-www-form-urlencoded\r\n");
  const auto host = "Host: " + f.authority() + "\r\n", origin = "Origin: http://" + f.authority() + "\r\n";
  const std::vector<std::string> foreign{host + type,
                                         host + type + "Origin: null\r\n",
                                         host + type + "Origin: https://evil.example\r\n",
                                         host + type + "Origin: http://127.0.0.1:1\r\n",
                                         host + type + "Origin: http://localhost:" + std::to_string(f.port) + "\r\n",
                                         host + type + origin + "Sec-Fetch-Site: cross-site\r\n",
                                         host + type + origin + "Sec-Fetch-Site: same-site\r\n",
                                         "Host: evil.example\r\nOrigin: http://evil.example\r\n" + type,
                                         "Host: evil.example:" + std::to_string(f.port) +
                                             "\r\nOrigin: http://evil.example:" + std::to_string(f.port) + "\r\n" +
                                             type};
  for (const auto& headers : foreign) {
    INFO(headers);
    CHECK(f.raw(f.post_text(f.on("accept"), body, headers)).status == 403);
    CHECK(f.raw(f.post_text("/sign-in", "passphrase=a+good+passphrase", headers)).status == 403);
  }
  CHECK(f.raw(f.post_text(f.on("accept"), body, host + origin + "Content-Type: text/plain\r\n")).status == 415);
  CHECK(f.raw("PUT " + f.on() + " HTTP/1.1\r\n" + host + origin + "Content-Length: 0\r\n\r\n").status == 405);
  CHECK(f.raw("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 403);
  CHECK(f.raw("GET /page.js HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n").status == 403);
  // A form without the session's token, or with another one.
  for (const auto* wrong : {"", "token=", "token=0123456789abcdef0123456789abcdef"})
    CHECK(f.post(f.on("accept"), std::string(wrong) + "&content_hash=aaaa&state=pending_approval").status == 403);
  CHECK(f.post(f.on("accept"), body + "%zz").status == 400);
  CHECK(f.post("/sign-in", "passphrase=" + std::string(9000, 'a')).status == 413);
  CHECK(f.api.asked().empty());
  // By the name localhost it is the same page.
  CHECK(f.raw("GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(f.port) + "\r\n\r\n").status == 200);
}

}  // namespace KRUXOS_TEST_FILE
