// The page of consent and who is sent where.
#include "emulators/oauth/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::oauth;

namespace {

const char* const kGoogle = "/o/oauth2/v2/auth";
const char* const kSlack = "/oauth/v2/authorize";

Fields google_request() {
  return {{"client_id", "krux-test.apps.googleusercontent.com"},
          {"redirect_uri", "http://127.0.0.1:8080/callback"},
          {"response_type", "code"},
          {"scope", "mail.read mail.send"},
          {"state", "s-1"},
          {"code_challenge", s256(kVerifier)},
          {"code_challenge_method", "S256"}};
}

Fields slack_request() {
  return {{"client_id", "3333.4444"},
          {"redirect_uri", "http://localhost:8081/oauth/callback"},
          {"user_scope", "channels:read,chat:write"},
          {"state", "s-2"},
          {"code_challenge", s256(kVerifier)},
          {"code_challenge_method", "S256"}};
}

Fields with(Fields fields, const Fields& more) {
  for (const auto& [name, value] : more) fields[name] = value;
  return fields;
}
Fields without(Fields fields, const std::string& name) {
  fields.erase(name);
  return fields;
}

const Fields kAllow = {
    {"decision", "allow"}, {"account", "ada@example.com"}, {"granted_0", "mail.read"}, {"granted_1", "mail.send"}};

}  // namespace

TEST_CASE("the page offers the accounts, each scope as a box, and both decisions") {
  Emulated google(Flavour::google);
  const Answered page = google.ask("GET", kGoogle, with(google_request(), {{"state", "\"><script>"}}));
  CHECK(page.http.status == 200);
  CHECK(page.http.content_type == "text/html; charset=utf-8");
  const std::string& html = page.http.body;
  CHECK(html.find(R"(<form method="post" action="/o/oauth2/v2/auth">)") != std::string::npos);
  CHECK(html.find(R"(type="radio" name="account" value="ada@example.com" checked)") != std::string::npos);
  CHECK(html.find(R"(type="radio" name="account" value="bob@example.com">)") != std::string::npos);
  CHECK(html.find(R"(type="checkbox" name="granted_1" value="mail.send" checked)") != std::string::npos);
  CHECK(html.find(R"(name="decision" value="deny")") != std::string::npos);
  CHECK(html.find("<script") == std::string::npos);
  const Answered hinted = google.ask("GET", kGoogle, with(google_request(), {{"login_hint", "bob@example.com"}}));
  CHECK(hinted.http.body.find(R"(value="bob@example.com" checked)") != std::string::npos);
}

TEST_CASE("allowing sends the browser back with a code, the state and the granted scopes") {
  Emulated google(Flavour::google);
  const Answered all = google.ask("POST", kGoogle, {}, with(google_request(), kAllow));
  CHECK(all.http.status == 302);
  CHECK(all.location().rfind("http://127.0.0.1:8080/callback?code=", 0) == 0);
  CHECK(all.landed()["state"] == "s-1");
  CHECK(all.landed()["scope"] == "mail.read mail.send");
  const Answered some = google.ask("POST", kGoogle, {}, without(with(google_request(), kAllow), "granted_0"));
  CHECK(some.landed()["scope"] == "mail.send");
  CHECK(google.counted("codes") == 2);
}

TEST_CASE("denying, unticking everything and a turned knob are access_denied") {
  Emulated google(Flavour::google);
  Fields denied = with(google_request(), kAllow);
  denied["decision"] = "deny";
  CHECK(google.ask("POST", kGoogle, {}, denied).landed() == Fields{{"error", "access_denied"}, {"state", "s-1"}});
  const Answered none =
      google.ask("POST", kGoogle, {}, with(google_request(), {{"decision", "allow"}, {"account", "ada@example.com"}}));
  CHECK(none.landed()["error"] == "access_denied");
  google.turn(R"({"action":"set","deny":1})");
  CHECK(google.ask("GET", kGoogle, google_request()).landed()["error"] == "access_denied");
  CHECK(google.ask("GET", kGoogle, google_request()).http.status == 200);
  CHECK(google.counted("denials") == 3);
  CHECK(google.counted("codes") == 0);
}

TEST_CASE("S256 is required and plain is refused") {
  Emulated google(Flavour::google);
  const Fields challenge_gone = without(google_request(), "code_challenge");
  CHECK(google.ask("GET", kGoogle, challenge_gone).landed()["error"] == "invalid_request");
  for (const char* method : {"plain", "", "s256"}) {
    CAPTURE(method);
    const Answered refused = google.ask("GET", kGoogle, with(google_request(), {{"code_challenge_method", method}}));
    CHECK(refused.landed()["error"] == "invalid_request");
  }
  CHECK(google.ask("GET", kGoogle, with(google_request(), {{"code_challenge", "short"}})).landed()["error"] ==
        "invalid_request");
  google.turn(R"({"action":"set","require_pkce":false})");
  CHECK(google.ask("GET", kGoogle, challenge_gone).http.status == 200);
}

TEST_CASE("what cannot be trusted with an answer is told to the person alone") {
  Emulated google(Flavour::google);
  for (const char* uri :
       {"http://192.0.2.1:8080/", "https://127.0.0.1/", "http://example.com/", "urn:ietf:wg:oauth:2.0:oob",
        "http://127.0.0.1:8080/#a", "", "http://127.0.0.1@example.com/"}) {
    CAPTURE(uri);
    const Answered page = google.ask("GET", kGoogle, with(google_request(), {{"redirect_uri", uri}}));
    CHECK(page.http.status == 400);
    CHECK(page.error == "redirect_uri_mismatch");
    CHECK(page.location().empty());
  }
  CHECK(google.ask("GET", kGoogle, with(google_request(), {{"client_id", "x"}})).error == "invalid_client");
  CHECK(google.ask("GET", kGoogle, without(google_request(), "response_type")).error == "invalid_request");
  CHECK(google.ask("GET", kGoogle, without(google_request(), "scope")).error == "invalid_request");
  CHECK(google.ask("GET", kGoogle, with(google_request(), {{"response_type", "token"}})).landed()["error"] ==
        "unsupported_response_type");
  Fields stranger = with(google_request(), kAllow);
  stranger["account"] = "eve@example.com";
  CHECK(google.ask("POST", kGoogle, {}, stranger).http.status == 400);
  CHECK(google.ask("PUT", kGoogle, google_request()).http.status == 405);
}

TEST_CASE("a desktop client may use any loopback port, a web client its registered addresses") {
  ProviderSettings settings = settings_of(Flavour::google);
  settings.clients = {"id=d,kind=desktop", "id=w,kind=web,redirect=https://app.example.com/cb"};
  Emulated google(settings);
  for (const char* uri : {"http://127.0.0.1:1234/x", "http://[::1]:9/", "http://localhost:8080"}) {
    CAPTURE(uri);
    const Fields asked = with(google_request(), {{"client_id", "d"}, {"redirect_uri", uri}});
    CHECK(google.ask("GET", kGoogle, asked).http.status == 200);
  }
  const auto web = [&](const char* uri) {
    return google.ask("GET", kGoogle, with(google_request(), {{"client_id", "w"}, {"redirect_uri", uri}})).http.status;
  };
  CHECK(web("https://app.example.com/cb") == 200);
  CHECK(web("https://app.example.com/cb/more") == 400);
  CHECK(web("http://127.0.0.1:8080/callback") == 400);
}

TEST_CASE("a public app of Slack takes localhost and user scopes, no bot scopes") {
  Emulated slack(Flavour::slack);
  CHECK(slack.ask("GET", kSlack, slack_request()).http.status == 200);
  const Answered bot = slack.ask("GET", kSlack, with(slack_request(), {{"scope", "chat:write"}}));
  CHECK(bot.http.status == 400);
  CHECK(bot.http.body.find("bot scopes") != std::string::npos);
  for (const char* uri : {"http://127.0.0.1:8081/oauth/callback", "http://localhost:8082/callback",
                          "http://localhost:8081/", "https://localhost:8081/oauth/callback"}) {
    CAPTURE(uri);
    const Answered page = slack.ask("GET", kSlack, with(slack_request(), {{"redirect_uri", uri}}));
    CHECK(page.error == "bad_redirect_uri");
    CHECK(page.http.body.find("did not match any configured URIs") != std::string::npos);
  }
  CHECK(
      slack.ask("GET", kSlack, with(slack_request(), {{"redirect_uri", "http://localhost:8081/oauth/callback/below"}}))
          .http.status == 200);
  CHECK(slack.ask("GET", kSlack, without(slack_request(), "redirect_uri")).http.status == 200);
}

TEST_CASE("a classic app of Slack takes https and no plain http, whatever is registered") {
  ProviderSettings settings = settings_of(Flavour::slack);
  settings.clients = {
      "id=c,secret=s,kind=classic,redirect=https://localhost:8081/oauth/callback,redirect=http://localhost:8081/oauth/"
      "callback"};
  settings.known_scopes = {"chat:write"};
  Emulated slack(settings);
  const Fields request = {{"client_id", "c"}, {"scope", "chat:write"}, {"state", "s"}};
  CHECK(slack.ask("GET", kSlack, with(request, {{"redirect_uri", "https://localhost:8081/oauth/callback"}}))
            .http.status == 200);
  CHECK(slack.ask("GET", kSlack, with(request, {{"redirect_uri", "http://localhost:8081/oauth/callback"}})).error ==
        "bad_redirect_uri");
  CHECK(slack.ask("GET", kSlack, with(request, {{"scope", "chat:write,admin"}})).error == "invalid_scope");
  CHECK(slack.ask("GET", kSlack, without(request, "scope")).error == "no_scopes");
}

}  // namespace KRUXOS_TEST_FILE
