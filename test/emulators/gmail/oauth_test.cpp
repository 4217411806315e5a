// Access tokens that the provider issued, at the API.
#include <catch2/catch.hpp>

#include "emulators/common/outcome.hpp"
#include "emulators/common/text.hpp"
#include "emulators/gmail/control.hpp"
#include "emulators/oauth/words.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;
using krux::test::oauth::percent_encode;
using Form = std::map<std::string, std::string>;

namespace {

constexpr const char* kVerifier = "a-verifier-of-forty-three-characters-or-more";
constexpr const char* kRead = "https://www.googleapis.com/auth/gmail.readonly";
constexpr const char* kSend = "https://www.googleapis.com/auth/gmail.send";
constexpr const char* kClient = "krux-test.apps.googleusercontent.com";

struct Emulated {
  Emulated() { state.mailbox("bob@example.com"); }

  std::shared_ptr<Outcome> send(const std::string& verb, const std::string& path, const Form& form,
                                const std::string& bearer = "") {
    HttpRequest request;
    request.method = verb;
    request.path = path;
    if (verb == "POST") request.headers["content-type"] = "application/x-www-form-urlencoded";
    if (!bearer.empty()) request.headers["authorization"] = "Bearer " + bearer;
    for (const auto& [name, value] : form) {
      request.body += (request.body.empty() ? "" : "&") + name + "=" + percent_encode(value);
    }
    auto outcome = std::make_shared<Outcome>();
    api.handle(request, outcome);
    return outcome;
  }
  rapidjson::Document connect(const std::string& account, bool may_read) {
    Form form = {{"client_id", kClient},
                 {"redirect_uri", "http://127.0.0.1:8080/oauth/callback"},
                 {"response_type", "code"},
                 {"scope", std::string(kRead) + " " + kSend},
                 {"code_challenge", krux::test::oauth::s256(kVerifier)},
                 {"code_challenge_method", "S256"},
                 {"decision", "allow"},
                 {"account", account},
                 {"granted_1", kSend}};
    if (may_read) form["granted_0"] = kRead;
    std::string code;
    const auto answered = send("POST", "/o/oauth2/v2/auth", form);
    for (const auto& [name, value] : answered->given.headers) {
      if (name == "Location") code = decode_form(value.substr(value.find('?') + 1))["code"];
    }
    rapidjson::Document tokens;
    parse_json(send("POST", "/token",
                    {{"grant_type", "authorization_code"},
                     {"client_id", kClient},
                     {"client_secret", "GOCSPX-krux-test"},
                     {"redirect_uri", "http://127.0.0.1:8080/oauth/callback"},
                     {"code", code},
                     {"code_verifier", kVerifier}})
                   ->given.body,
               tokens);
    return tokens;
  }
  HttpAnswer profile(const std::string& bearer) { return send("GET", "/gmail/v1/users/me/profile", {}, bearer)->given; }
  HttpAnswer tell(const std::string& verb, const std::string& what, const std::string& body = "") {
    HttpRequest request;
    request.method = verb;
    request.path = "/_emulator/" + what;
    request.body = body;
    return control.handle(request);
  }

  static Settings settings() {
    Settings settings;
    settings.clock = EmulatorClock::driven(1'700'000'000'000);
    return settings;
  }

  State state{settings()};
  Api api{state, [](std::int64_t, std::function<void()> work) { work(); }};
  Control control{state, api};
};

}  // namespace

TEST_CASE("an issued token opens the mailbox of the person who consented") {
  Emulated gmail;
  const std::string token = text_or(gmail.connect("bob@example.com", true), "access_token");
  CHECK(gmail.profile(token).body.find("bob@example.com") != std::string::npos);
  CHECK(gmail.profile("ya29.made-up").status == 401);
}

TEST_CASE("a scope that was unticked is missing") {
  Emulated gmail;
  const auto tokens = gmail.connect("agent@example.com", false);
  CHECK(text_or(tokens, "scope") == kSend);
  CHECK(gmail.profile(text_or(tokens, "access_token")).status == 403);
}

TEST_CASE("expired and revoked tokens and refresh tokens open nothing") {
  Emulated gmail;
  const auto tokens = gmail.connect("agent@example.com", true);
  CHECK(gmail.profile(text_or(tokens, "refresh_token")).status == 401);
  gmail.state.clock.advance_ms(3599 * 1000);
  CHECK(gmail.profile(text_or(tokens, "access_token")).status == 401);
  const auto others = gmail.connect("bob@example.com", true);
  CHECK(gmail.send("POST", "/revoke", {{"token", text_or(others, "refresh_token")}})->given.status == 200);
  CHECK(gmail.profile(text_or(others, "access_token")).status == 401);
}

TEST_CASE("the control plane turns the provider, faults find it, and a reset forgets it") {
  Emulated gmail;
  const std::string token = text_or(gmail.connect("agent@example.com", true), "access_token");
  CHECK(gmail.tell("GET", "oauth").body.find(R"("live_grants":1)") != std::string::npos);
  CHECK(gmail.tell("POST", "oauth", R"({"action":"expire_access"})").status == 200);
  CHECK(gmail.profile(token).status == 401);
  CHECK(gmail.tell("POST", "oauth", R"({"action":"nothing"})").status == 400);
  CHECK(gmail.tell("POST", "fault", R"({"method":"oauth2.token","kind":"http_status","status":502})").status == 200);
  CHECK(gmail.send("POST", "/token", {{"grant_type", "refresh_token"}})->given.status == 502);
  CHECK(gmail.tell("POST", "reset").status == 200);
  CHECK(gmail.tell("GET", "oauth").body.find(R"("live_grants":0)") != std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
