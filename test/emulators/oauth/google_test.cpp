// Google's token endpoint: codes, refreshing, revoking, expiry.
#include "emulators/oauth/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::oauth;

namespace {

const char* const kClient = "krux-test.apps.googleusercontent.com";
const char* const kRedirect = "http://127.0.0.1:8080/callback";

struct Google : Emulated {
  using Emulated::Emulated;
  Google() : Emulated(Flavour::google) {}

  std::string consent(const std::string& person = "ada@example.com", const Fields& more = {}) {
    Fields form = {{"client_id", client},
                   {"redirect_uri", redirect},
                   {"response_type", "code"},
                   {"scope", "mail"},
                   {"state", "s"},
                   {"code_challenge", s256(kVerifier)},
                   {"code_challenge_method", "S256"},
                   {"decision", "allow"},
                   {"account", person},
                   {"granted_0", "mail"}};
    for (const auto& [name, value] : more) form[name] = value;
    return ask("POST", "/o/oauth2/v2/auth", {}, form).landed()["code"];
  }
  Answered token(Fields form) {
    form.try_emplace("client_id", client);
    form.try_emplace("client_secret", secret);
    if (form["client_secret"].empty()) form.erase("client_secret");
    return ask("POST", "/token", {}, form);
  }
  Answered exchange(const std::string& code, Fields form = {}) {
    form.try_emplace("grant_type", "authorization_code");
    form.try_emplace("code", code);
    form.try_emplace("redirect_uri", redirect);
    form.try_emplace("code_verifier", kVerifier);
    return token(form);
  }
  Answered refresh(const std::string& refresh_token) {
    return token({{"grant_type", "refresh_token"}, {"refresh_token", refresh_token}});
  }
  Answered revoke(const std::string& which) { return ask("POST", "/revoke", {}, {{"token", which}}); }
  TokenState state(const std::string& access) { return provider.find(access).state; }

  std::string client = kClient, secret = "GOCSPX-krux-test", redirect = kRedirect;
};

}  // namespace

TEST_CASE("a code becomes an access token that opens what was granted, for 3599 seconds") {
  Google google;
  const Answered answer = google.exchange(google.consent());
  CHECK(answer.http.status == 200);
  CHECK(answer.text("token_type") == "Bearer");
  CHECK(answer.number("expires_in") == 3599);
  CHECK(answer.text("scope") == "mail");
  CHECK(answer.has("refresh_token"));
  CHECK_FALSE(answer.has("refresh_token_expires_in"));
  const TokenInfo info = google.provider.find(answer.text("access_token"));
  CHECK(info.state == TokenState::live);
  CHECK(info.person.id == "ada@example.com");
  CHECK(info.scopes == Scopes{"mail"});
  google.clock.advance_ms(3599 * 1000 - 1);
  CHECK(google.state(answer.text("access_token")) == TokenState::live);
  google.clock.advance_ms(1);
  CHECK(google.state(answer.text("access_token")) == TokenState::expired);
  CHECK(google.provider.find(answer.text("refresh_token")).is_refresh);
  CHECK(google.state("ya29.never") == TokenState::unknown);
}

TEST_CASE("every mistake in an exchange has Google's status and word") {
  Google google;
  const auto refused = [&](Fields form) {
    const Answered answer = google.exchange(google.consent(), std::move(form));
    return std::to_string(answer.http.status) + " " + answer.text("error");
  };
  CHECK(refused({{"code_verifier", ""}}) == "400 invalid_grant");
  CHECK(refused({{"code_verifier", std::string(43, 'x')}}) == "400 invalid_grant");
  CHECK(refused({{"redirect_uri", "http://127.0.0.1:9/"}}) == "400 redirect_uri_mismatch");
  CHECK(refused({{"client_secret", "wrong"}}) == "401 invalid_client");
  CHECK(refused({{"client_secret", ""}}) == "400 invalid_request");
  CHECK(refused({{"client_id", "other"}}) == "401 invalid_client");
  CHECK(refused({{"grant_type", "password"}}) == "400 unsupported_grant_type");
  CHECK(refused({{"code", "4/made-up"}}) == "400 invalid_grant");
  CHECK(refused({{"code", ""}}) == "400 invalid_request");
  CHECK(google.ask("GET", "/token", {}).http.status == 405);
  CHECK(google.live_grants() == 0);
  const std::string late = google.consent();
  google.clock.advance_ms(600'000);
  CHECK(google.exchange(late).text("error") == "invalid_grant");
}

TEST_CASE("a failed exchange leaves the code usable, a second use ends what the first one gave") {
  Google google;
  const std::string code = google.consent();
  CHECK(google.exchange(code, {{"code_verifier", std::string(50, 'y')}}).http.status == 400);
  const Answered first = google.exchange(code);
  REQUIRE(first.http.status == 200);
  CHECK(google.exchange(code).text("error") == "invalid_grant");
  CHECK(google.state(first.text("access_token")) == TokenState::revoked);
  CHECK(google.refresh(first.text("refresh_token")).text("error") == "invalid_grant");
  CHECK(google.counted("codes_reused") == 1);
  google.turn(R"({"action":"set","code_reuse_revokes":false})");
  const std::string other = google.consent();
  const Answered kept = google.exchange(other);
  CHECK(google.exchange(other).http.status == 400);
  CHECK(google.state(kept.text("access_token")) == TokenState::live);
}

TEST_CASE("refreshing gives an access token and no refresh token, and earlier access tokens go on") {
  Google google;
  const Answered first = google.exchange(google.consent());
  const Answered next = google.refresh(first.text("refresh_token"));
  CHECK(next.http.status == 200);
  CHECK(next.number("expires_in") == 3599);
  CHECK(next.text("scope") == "mail");
  CHECK_FALSE(next.has("refresh_token"));
  CHECK(google.state(first.text("access_token")) == TokenState::live);
  CHECK(google.state(next.text("access_token")) == TokenState::live);
  CHECK(google.refresh(first.text("refresh_token")).http.status == 200);
  CHECK(google.refresh("1//made-up").text("error") == "invalid_grant");
  CHECK(google.counted("refreshes") == 2);
  CHECK(google.counted("refreshes_outdated") == 0);
}

TEST_CASE("with rotation a refresh token works once, in its grace again, and a later use can end the grant") {
  Google google;
  google.turn(R"({"action":"set","rotation":true,"grace_ms":10000})");
  const Answered first = google.exchange(google.consent());
  const Answered second = google.refresh(first.text("refresh_token"));
  REQUIRE(second.has("refresh_token"));
  google.clock.advance_ms(9'999);
  const Answered in_grace = google.refresh(first.text("refresh_token"));
  CHECK(in_grace.http.status == 200);
  CHECK(google.counted("refreshes_in_grace") == 1);
  google.clock.advance_ms(1);
  CHECK(google.refresh(first.text("refresh_token")).text("error") == "invalid_grant");
  CHECK(google.counted("refreshes_outdated") == 1);
  CHECK(google.refresh(second.text("refresh_token")).http.status == 200);
  google.turn(R"({"action":"set","refresh_reuse_revokes":true})");
  CHECK(google.refresh(first.text("refresh_token")).text("error") == "invalid_grant");
  CHECK(google.live_grants() == 0);
  CHECK(google.refresh(in_grace.text("refresh_token")).text("error") == "invalid_grant");
}

TEST_CASE("revoking either token ends all that the person granted to the client") {
  Google google;
  const Answered one = google.exchange(google.consent()), two = google.exchange(google.consent());
  const Answered bob = google.exchange(google.consent("bob@example.com"));
  const bool by_access = GENERATE(true, false);
  CHECK(google.revoke(one.text(by_access ? "access_token" : "refresh_token")).http.status == 200);
  CHECK(google.state(two.text("access_token")) == TokenState::revoked);
  CHECK(google.refresh(two.text("refresh_token")).text("error") == "invalid_grant");
  CHECK(google.refresh(bob.text("refresh_token")).http.status == 200);
  const Answered again = google.revoke(one.text("refresh_token"));
  CHECK(again.http.status == 400);
  CHECK(again.text("error") == "invalid_token");
  CHECK(google.revoke("nonsense").http.status == 400);
  CHECK(google.counted("revocations") == 1);
}

TEST_CASE("a web client has a refresh token when it asks for offline access, later with a new consent alone") {
  ProviderSettings settings = settings_of(Flavour::google);
  settings.clients = {"id=w,secret=s,kind=web,redirect=https://app.example.com/cb"};
  Google google(settings);
  google.client = "w", google.secret = "s", google.redirect = "https://app.example.com/cb";
  CHECK_FALSE(google.exchange(google.consent()).has("refresh_token"));
  google.turn(R"({"action":"revoke"})");
  const Fields offline = {{"access_type", "offline"}};
  CHECK(google.exchange(google.consent("ada@example.com", offline)).has("refresh_token"));
  CHECK_FALSE(google.exchange(google.consent("ada@example.com", offline)).has("refresh_token"));
  CHECK(google.exchange(google.consent("bob@example.com", offline)).has("refresh_token"));
  const Fields consent = {{"access_type", "offline"}, {"prompt", "select_account consent"}};
  CHECK(google.exchange(google.consent("ada@example.com", consent)).has("refresh_token"));
}

TEST_CASE("over the limit the oldest refresh token ends without a word") {
  Google google;
  google.turn(R"({"action":"set","refresh_token_limit":2})");
  const Answered a = google.exchange(google.consent()), b = google.exchange(google.consent());
  const Answered other = google.exchange(google.consent("bob@example.com")), c = google.exchange(google.consent());
  CHECK(google.refresh(a.text("refresh_token")).text("error") == "invalid_grant");
  CHECK(google.refresh(b.text("refresh_token")).http.status == 200);
  CHECK(google.refresh(c.text("refresh_token")).http.status == 200);
  CHECK(google.refresh(other.text("refresh_token")).http.status == 200);
}

TEST_CASE("tests make access tokens too old, refresh tokens end, and refreshes fail as they like") {
  Google google;
  const Answered ada = google.exchange(google.consent()), bob = google.exchange(google.consent("bob@example.com"));
  google.turn(R"({"action":"expire_access","person":"ada@example.com"})");
  CHECK(google.state(ada.text("access_token")) == TokenState::expired);
  CHECK(google.state(bob.text("access_token")) == TokenState::live);
  google.turn(R"({"action":"set","refuse_refreshes":1})");
  CHECK(google.refresh(ada.text("refresh_token")).text("error") == "invalid_grant");
  CHECK(google.refresh(ada.text("refresh_token")).http.status == 200);
  google.turn(R"({"action":"set","refuse_refreshes":-1,"refresh_error":"invalid_client"})");
  CHECK(google.refresh(ada.text("refresh_token")).http.status == 401);
  CHECK(google.refresh(ada.text("refresh_token")).http.status == 401);
  google.turn(R"({"action":"set","refuse_refreshes":0})");
  google.turn(R"({"action":"expire_refresh","person":"ada@example.com"})");
  CHECK(google.refresh(ada.text("refresh_token")).text("error") == "invalid_grant");
  google.turn(R"({"action":"revoke","person":"bob@example.com"})");
  CHECK(google.state(bob.text("access_token")) == TokenState::revoked);
  CHECK(google.live_grants() == 1);
}

TEST_CASE("a refresh token of limited life says so and ends") {
  Google google;
  google.turn(R"({"action":"set","refresh_seconds":604800})");
  const Answered first = google.exchange(google.consent());
  CHECK(first.number("refresh_token_expires_in") == 604800);
  google.clock.advance_ms(604800LL * 1000);
  CHECK(google.refresh(first.text("refresh_token")).text("error") == "invalid_grant");
}

TEST_CASE("what a test misspells is refused") {
  Google google;
  for (const char* wrong :
       {R"({"action":"sett"})", R"({"action":"set","rotations":true})", R"([])", R"({})",
        R"({"action":"set","deny":"all"})", R"({"action":"set","rotation":1})", R"({"action":"set","require_pkce":0})",
        R"({"action":"revoke","persons":"x"})", R"({"action":"client","client":"secret=x"})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(google.turn(wrong), std::runtime_error);
  }
}

TEST_CASE("the journal's record has no secret") {
  Google google;
  krux::test::emulator::HttpRequest request;
  request.method = "POST";
  request.path = "/token";
  request.headers["content-type"] = "application/x-www-form-urlencoded";
  request.body = "grant_type=refresh_token&refresh_token=r&client_secret=s&code=c&code_verifier=v&client_id=i";
  const auto route = google.provider.route(request);
  REQUIRE(route);
  CHECK(route->record.method == "oauth2.token");
  CHECK(route->record.params == Fields{{"client_id", "i"}, {"grant_type", "refresh_token"}});
  request.path = "/gmail/v1/users/me/profile";
  CHECK_FALSE(google.provider.route(request));
}

TEST_CASE("bytes of any kind are answered") {
  Google google;
  const std::string junk("\xff\0%%zz=&=&&\"<", 13);
  for (const char* path : {"/token", "/revoke", "/o/oauth2/v2/auth"}) {
    for (const char* verb : {"GET", "POST"}) {
      krux::test::emulator::HttpRequest request;
      request.method = verb;
      request.path = path;
      request.query = request.body = junk;
      request.headers = {{"content-type", "application/x-www-form-urlencoded"}, {"authorization", "Basic " + junk}};
      CHECK(google.provider.route(request)->work().http.status >= 400);
    }
  }
}

}  // namespace KRUXOS_TEST_FILE
