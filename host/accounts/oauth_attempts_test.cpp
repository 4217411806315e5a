// Attempts through real sockets: what the browser sends, and what it is told.
#include "host/accounts/oauth_attempts.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "core/util/error.hpp"
#include "host/accounts/own_host.hpp"
#include "host/http/http_types.hpp"
#include "support/http.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::string value_in(const std::string& address, const std::string& name) {
  const auto question = address.find('?');
  return query_value(address.substr(question + 1), name).value_or("");
}

struct Rig {
  DrivenClock clock;
  std::mutex mutex;
  std::vector<std::string> codes;
  std::optional<Error> refusal;
  std::uint16_t port = 0;
  OAuthAttempts attempts{clock, [this](const OAuthPlan& plan, const std::string& redirect_uri, const Secret& code,
                                       const Secret& verifier) {
                           const std::lock_guard lock(mutex);
                           CHECKED(verifier.size() == 43);
                           codes.push_back(redirect_uri + " " + std::string(code.reveal()));
                           if (refusal) throw Error(*refusal);
                           Connected connected;
                           connected.connection.service = plan.definition->service;
                           connected.connection.display_name = "Team <1>";
                           return connected;
                         }};

  static void CHECKED(bool fits) {
    if (!fits) throw std::logic_error("a verifier has 43 characters");
  }
  OAuthPlan plan() const {
    auto definition = std::make_shared<ServiceDefinition>();
    definition->service = "notes";
    definition->display_name = "Notes";
    OAuthPlan made;
    made.definition = definition;
    made.flow.name = "desktop";
    made.flow.authorize_url = "https://auth.example/authorize";
    made.profile = {"read", "", {"notes.read"}, {}};
    made.client_id = "id";
    made.callback_port = port;
    return made;
  }
  OAuthAttemptView begin() {
    auto view = attempts.begin(plan());
    port_of(view);
    return view;
  }
  void port_of(const OAuthAttemptView& view) {
    const auto colon = view.redirect_uri.rfind(':');
    listens = static_cast<std::uint16_t>(std::stoi(view.redirect_uri.substr(colon + 1)));
  }
  std::uint16_t listens = 0;

  /// What the browser gets for a target.
  std::string get(const std::string& target, const std::string& host = "127.0.0.1", const std::string& method = "GET") {
    test::Connection client(listens);
    client.send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    return client.read_to_end();
  }
  std::string callback(const OAuthAttemptView& view, const std::string& code = "c0de") {
    return "/oauth/callback?code=" + code + "&state=" + value_in(view.authorize_url, "state");
  }
  std::string await_end(const std::string& id) {
    while (true) {
      const auto state = attempts.get("notes", id).state;
      if (state == "connected" || state == "failed") return state;
      std::this_thread::yield();
    }
  }
};

}  // namespace

TEST_CASE("the browser comes back with a code, and sees that the account is connected", "[oauth]") {
  Rig rig;
  const auto view = rig.begin();
  CHECK(view.state == "waiting");
  CHECK(value_in(view.authorize_url, "redirect_uri") == view.redirect_uri);
  CHECK(value_in(view.authorize_url, "code_challenge").size() == 43);
  const auto page = rig.get(rig.callback(view));
  CHECK_THAT(page, Catch::StartsWith("HTTP/1.1 200") && Catch::Contains("Notes is connected as Team &lt;1&gt;."));
  CHECK_THAT(page, Catch::Contains("default-src 'none'"));
  CHECK(page.find("c0de") == std::string::npos);
  CHECK(rig.await_end(view.attempt_id) == "connected");
  REQUIRE(rig.codes.size() == 1);
  CHECK(rig.codes[0] == view.redirect_uri + " c0de");
}

TEST_CASE("idle connections do not keep the browser from coming back", "[oauth]") {
  Rig rig;
  const auto view = rig.begin();
  std::vector<std::unique_ptr<test::Connection>> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(std::make_unique<test::Connection>(rig.listens));
    if (i % 2) idle.back()->send("GET / HTTP/1.1\r\nHo");
  }
  CHECK_THAT(rig.get(rig.callback(view)), Catch::StartsWith("HTTP/1.1 200"));
  CHECK(rig.await_end(view.attempt_id) == "connected");
}

TEST_CASE("what is not the way back ends nothing", "[oauth]") {
  Rig rig;
  const auto view = rig.begin();
  const auto good = rig.callback(view);
  CHECK_THAT(rig.get(good, "127.0.0.1", "HEAD"), Catch::StartsWith("HTTP/1.1 405"));
  CHECK(rig.attempts.get("notes", view.attempt_id).state == "waiting");
  CHECK_THAT(rig.get("/"), Catch::StartsWith("HTTP/1.1 404"));
  CHECK_THAT(rig.get("/favicon.ico"), Catch::StartsWith("HTTP/1.1 404"));
  CHECK_THAT(rig.get("/oauth/callback"), Catch::StartsWith("HTTP/1.1 400"));
  CHECK_THAT(rig.get("/oauth/callback?code=c0de&state=wrong"), Catch::StartsWith("HTTP/1.1 400"));
  CHECK_THAT(rig.get("/oauth/callback?code=c0de"), Catch::StartsWith("HTTP/1.1 400"));
  CHECK_THAT(rig.get("/oauth/callback?error=access_denied&state=wrong"), Catch::StartsWith("HTTP/1.1 400"));
  CHECK_THAT(rig.get("/oauth/callback?error=%3Cscript%3E"), !Catch::Contains("<script>"));
  CHECK_THAT(rig.get(good, "evil.example"), Catch::StartsWith("HTTP/1.1 403"));
  CHECK_THAT(rig.get(good, "127.0.0.1.evil.example:80"), Catch::StartsWith("HTTP/1.1 403"));
  CHECK_THAT(rig.get(good, "127.0.0.1", "POST"), Catch::StartsWith("HTTP/1.1 405"));
  CHECK(rig.attempts.get("notes", view.attempt_id).state == "waiting");
  CHECK_THAT(rig.get(good, "localhost:" + std::to_string(rig.listens)), Catch::StartsWith("HTTP/1.1 200"));
  CHECK(rig.codes.size() == 1);
}

TEST_CASE("bytes that are no request, and clients that dawdle, end nothing", "[oauth]") {
  Rig rig;
  const auto view = rig.begin();
  test::Connection slow(rig.listens);
  slow.send("GET /oauth/callback?code=");
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    std::string bytes(1 + random() % 300, '\0');
    for (auto& c : bytes) c = static_cast<char>(random());
    test::Connection(rig.listens).send(bytes);
  }
  CHECK(rig.attempts.get("notes", view.attempt_id).state == "waiting");
  CHECK_THAT(rig.get(rig.callback(view)), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("a denial ends the attempt", "[oauth]") {
  Rig rig;
  const auto view = rig.begin();
  const auto page = rig.get("/oauth/callback?error=access_denied&state=" + value_in(view.authorize_url, "state"));
  CHECK_THAT(page, Catch::StartsWith("HTTP/1.1 400") && Catch::Contains("denied in the browser"));
  CHECK(rig.await_end(view.attempt_id) == "failed");
  CHECK(rig.attempts.get("notes", view.attempt_id).message ==
        "The access was denied in the browser. Nothing was stored.");
  CHECK(rig.codes.empty());
}

TEST_CASE("a code is used once, and what fails behind it is said", "[oauth]") {
  Rig rig;
  rig.refusal = not_connected("notes gave no token: invalid_grant.");
  const auto view = rig.begin();
  const auto address = "http://127.0.0.1:1" + rig.callback(view);
  rig.attempts.answer("notes", view.attempt_id, address);
  CHECK_THROWS_WITH(rig.attempts.answer("notes", view.attempt_id, address), Catch::Contains("answered already"));
  CHECK(rig.await_end(view.attempt_id) == "failed");
  CHECK(rig.attempts.get("notes", view.attempt_id).message == "notes gave no token: invalid_grant.");
  CHECK(rig.codes.size() == 1);
}

TEST_CASE("a pasted address must be of this attempt", "[oauth]") {
  Rig rig;
  const auto view = rig.begin();
  for (const std::string bad :
       {"", "c0de", "https://evil.example/?code=a", "http://127.0.0.1/oauth/callback?code=a&state=b"}) {
    CHECK_THROWS_AS(rig.attempts.answer("notes", view.attempt_id, bad), Error);
  }
  CHECK_THROWS_AS(rig.attempts.answer("notes", "oauth_other", "http://127.0.0.1" + rig.callback(view)), Error);
  CHECK(rig.attempts.get("notes", view.attempt_id).state == "waiting");
}

TEST_CASE("an attempt ends after ten minutes, when it is given up, and when another is begun", "[oauth]") {
  Rig rig;
  const auto first = rig.begin();
  while (rig.clock.waiters() == 0) std::this_thread::yield();
  rig.clock.advance(OAuthAttempts::kLifeMs);
  CHECK(rig.await_end(first.attempt_id) == "failed");
  const auto second = rig.begin();
  CHECK_THROWS_AS(rig.attempts.get("notes", first.attempt_id), Error);
  CHECK(rig.attempts.cancel("notes", second.attempt_id).state == "failed");
  const auto third = rig.begin();
  const auto fourth = rig.begin();
  CHECK_THROWS_AS(rig.attempts.get("notes", third.attempt_id), Error);
  CHECK_THAT(rig.get(rig.callback(third)), Catch::StartsWith("HTTP/1.1 400"));
  CHECK_THAT(rig.get(rig.callback(fourth)), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("a port that is taken is another one, unless the app's address names it", "[oauth]") {
  Rig rig;
  const auto mine = rig.begin();
  Rig other;
  other.port = rig.listens;
  const auto view = other.begin();
  CHECK(other.listens != rig.listens);
  CHECK_THAT(other.get(other.callback(view)), Catch::StartsWith("HTTP/1.1 200"));
  auto fixed = other.plan();
  fixed.flow.any_port = false;
  CHECK_THROWS_WITH(other.attempts.begin(std::move(fixed)), Catch::Contains("is taken"));
  auto elsewhere = other.plan();
  elsewhere.redirect_uri = "https://proxy.example/cb";
  const auto pasted = other.attempts.begin(std::move(elsewhere));
  CHECK(pasted.redirect_uri == "https://proxy.example/cb");
  CHECK_FALSE(pasted.not_listening.empty());
  other.attempts.answer("notes", pasted.attempt_id,
                        "https://proxy.example/cb?code=x&state=" + value_in(pasted.authorize_url, "state"));
  CHECK(other.await_end(pasted.attempt_id) == "connected");
}

TEST_CASE("the Host header names the loopback", "[oauth]") {
  for (const char* good : {"127.0.0.1", "127.0.0.1:8080", "localhost", "localhost:1", "[::1]", "[::1]:8080"})
    CHECK(is_host_of_ours(good, ""));
  for (const char* bad : {"", "evil.example", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:80:80", "localhost.evil", "[::1",
                          "[::1]x", "127.0.0.1@evil"})
    CHECK_FALSE(is_host_of_ours(bad, ""));
  CHECK(is_host_of_ours("proxy.example:443", "proxy.example"));
}

}  // namespace KRUXOS_TEST_FILE
