// Tokens that the provider issued, at the API.
#include "emulators/common/outcome.hpp"
#include "emulators/common/text.hpp"
#include "emulators/oauth/words.hpp"
#include "emulators/slack/control.hpp"
#include "emulators/slack/testing.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux::test::slack;
using krux::test::oauth::percent_encode;

namespace {

constexpr const char* kVerifier = "a-verifier-of-forty-three-characters-or-more";

struct Emulated {
  explicit Emulated(Settings settings = driven_settings()) : state(std::move(settings)) {
    tell("POST", "seed", R"({"channels": 1, "users": 1, "messages_per_channel": 2})");
  }

  std::shared_ptr<Outcome> send(const std::string& path, const Parameters& form, const std::string& bearer = "") {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.headers["content-type"] = "application/x-www-form-urlencoded";
    if (!bearer.empty()) request.headers["authorization"] = "Bearer " + bearer;
    for (const auto& [name, value] : form) {
      request.body += (request.body.empty() ? "" : "&") + name + "=" + percent_encode(value);
    }
    auto outcome = std::make_shared<Outcome>();
    api.handle(request, outcome);
    return outcome;
  }
  rapidjson::Document json(const std::string& path, const Parameters& form, const std::string& bearer = "") {
    rapidjson::Document document;
    parse_json(send(path, form, bearer)->given.body, document);
    return document;
  }
  HttpAnswer tell(const std::string& verb, const std::string& what, const std::string& body = "") {
    HttpRequest request;
    request.method = verb;
    request.path = "/_emulator/" + what;
    request.body = body;
    return control.handle(request);
  }
  std::string code(Parameters form) {
    form["decision"] = "allow";
    form.try_emplace("account", "U0OPERATOR1");
    const auto answered = send("/oauth/v2/authorize", form);
    for (const auto& [name, value] : answered->given.headers) {
      if (name == "Location") return decode_form(value.substr(value.find('?') + 1))["code"];
    }
    return "";
  }
  rapidjson::Document user(const std::string& account = "U0OPERATOR1") {
    const std::string given = code({{"client_id", "3333.4444"},
                                    {"user_scope", "chat:write,channels:history"},
                                    {"granted_0", "chat:write"},
                                    {"granted_1", "channels:history"},
                                    {"account", account},
                                    {"code_challenge", krux::test::oauth::s256(kVerifier)},
                                    {"code_challenge_method", "S256"}});
    return json("/api/oauth.v2.access", {{"client_id", "3333.4444"}, {"code", given}, {"code_verifier", kVerifier}});
  }
  rapidjson::Document bot() {
    const std::string given = code({{"client_id", "1111.2222"}, {"scope", "chat:write"}, {"granted_0", "chat:write"}});
    return json("/api/oauth.v2.access",
                {{"client_id", "1111.2222"}, {"client_secret", "classic-secret"}, {"code", given}});
  }

  State state;
  Api api{state, [](std::int64_t, std::function<void()> work) { work(); }};
  Control control{state, api};
};

std::string error_of(const rapidjson::Document& document) {
  return text_or(document, "error");
}

const Parameters kPost = {{"channel", "C0GEN00000"}, {"text", "hello"}};

}  // namespace

TEST_CASE("an issued bot token acts as the bot, with the granted scopes alone") {
  Emulated slack;
  const std::string token = text_or(slack.bot(), "access_token");
  const auto who = slack.json("/api/auth.test", {}, token);
  CHECK(text_or(who, "user_id") == "U0KRUXBOT1");
  CHECK(text_or(who, "bot_id") == "B0KRUXBOT1");
  CHECK(flag_or(slack.json("/api/chat.postMessage", kPost, token), "ok"));
  CHECK(error_of(slack.json("/api/conversations.history", {{"channel", "C0GEN00000"}}, token)) == "missing_scope");
}

TEST_CASE("an issued user token acts as the person") {
  Emulated slack;
  const auto given = slack.user();
  const std::string token = text_or(given["authed_user"], "access_token");
  const auto who = slack.json("/api/auth.test", {}, token);
  CHECK(text_or(who, "user_id") == "U0OPERATOR1");
  CHECK_FALSE(who.HasMember("bot_id"));
  const auto posted = slack.json("/api/chat.postMessage", kPost, token);
  CHECK(text_or(posted["message"], "user") == "U0OPERATOR1");
  const Parameters it = {{"channel", "C0GEN00000"}, {"ts", text_or(posted, "ts")}};
  CHECK(error_of(slack.json("/api/chat.delete", it, kToken)) == "cant_delete_message");
  CHECK(flag_or(slack.json("/api/chat.delete", it, token), "ok"));
}

TEST_CASE("people of several workspaces are who auth.test says they are") {
  Settings settings = driven_settings();
  settings.oauth_people = {"U0OPERATOR1", "U0OTHER0001@T0ELSEWHERE"};
  Emulated slack(settings);
  const auto given = slack.user("U0OTHER0001");
  CHECK(text_or(given["team"], "id") == "T0ELSEWHERE");
  const auto who = slack.json("/api/auth.test", {}, text_or(given["authed_user"], "access_token"));
  CHECK(text_or(who, "team_id") == "T0ELSEWHERE");
  CHECK(text_or(who, "user_id") == "U0OTHER0001");
}

TEST_CASE("tokens that are too old or revoked are told apart") {
  Emulated slack;
  slack.tell("POST", "oauth", R"({"action":"set","rotation":true})");
  const auto user = slack.user();
  const std::string access = text_or(user["authed_user"], "access_token");
  const std::string refresh = text_or(user["authed_user"], "refresh_token");
  CHECK(error_of(slack.json("/api/auth.test", {}, refresh)) == "invalid_auth");
  CHECK(slack.tell("POST", "oauth", R"({"action":"expire_access"})").status == 200);
  CHECK(error_of(slack.json("/api/auth.test", {}, access)) == "token_expired");
  CHECK(slack.tell("POST", "oauth", R"({"action":"revoke"})").status == 200);
  CHECK(error_of(slack.json("/api/auth.test", {}, access)) == "token_revoked");
  CHECK(error_of(slack.json("/api/auth.test", {}, "xoxe.xoxp-1-made-up")) == "invalid_auth");
}

TEST_CASE("auth.revoke ends a token, its form may name it, and the grant goes with the last one") {
  Emulated slack;
  const std::string bot = text_or(slack.bot(), "access_token");
  CHECK(flag_or(slack.json("/api/auth.revoke", {}, bot), "revoked"));
  CHECK(error_of(slack.json("/api/auth.test", {}, bot)) == "account_inactive");
  slack.tell("POST", "oauth", R"({"action":"set","rotation":true})");
  const auto user = slack.user();
  for (const char* which : {"refresh_token", "access_token"}) {
    const std::string token = text_or(user["authed_user"], which);
    CHECK(flag_or(slack.json("/api/auth.revoke", {{"token", token}}), "revoked"));
    CHECK(error_of(slack.json("/api/auth.revoke", {{"token", token}})) == "token_revoked");
  }
  const std::string facts = slack.tell("GET", "oauth").body;
  CHECK(facts.find(R"("live_grants":0)") != std::string::npos);
  CHECK(facts.find(R"("revocations":3)") != std::string::npos);
}

TEST_CASE("faults hit the token method, and the log shows no secret") {
  Emulated slack;
  REQUIRE(slack.tell("POST", "fault", R"({"method":"oauth.v2.access","kind":"http_status","status":503})").status ==
          200);
  const Parameters form = {{"client_id", "3333.4444"}, {"code", "c0de"}, {"code_verifier", "v3rifier"}};
  CHECK(slack.send("/api/oauth.v2.access", form)->given.status == 503);
  CHECK(slack.send("/api/oauth.v2.access", form)->given.status == 200);
  REQUIRE(slack.tell("POST", "fault", R"({"method":"oauth.v2.access","kind":"error","error":"ratelimited"})").status ==
          200);
  CHECK(error_of(slack.json("/api/oauth.v2.access", form)) == "ratelimited");
  const std::string log = slack.tell("GET", "log").body;
  CHECK(log.find("oauth.v2.access") != std::string::npos);
  CHECK(log.find("c0de") == std::string::npos);
  CHECK(log.find("v3rifier") == std::string::npos);
}

TEST_CASE("a reset forgets what was granted") {
  Emulated slack;
  const std::string token = text_or(slack.bot(), "access_token");
  slack.tell("POST", "reset");
  CHECK(error_of(slack.json("/api/auth.test", {}, token)) == "invalid_auth");
  CHECK(slack.tell("POST", "oauth", R"({"action":"destroy"})").status == 400);
}

}  // namespace KRUXOS_TEST_FILE
