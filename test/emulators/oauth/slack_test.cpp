// Slack's token methods: bot and user tokens, PKCE, rotation, revoking.
#include "emulators/oauth/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::oauth;

namespace {

struct Slack : Emulated {
  using Emulated::Emulated;
  Slack() : Emulated(Flavour::slack) {}

  // Of the public app unless `more` says otherwise.
  std::string consent(const Fields& more = {}, const std::string& path = "/oauth/v2/authorize") {
    Fields form = {{"client_id", "3333.4444"},
                   {"redirect_uri", "http://localhost:8081/oauth/callback"},
                   {"state", "s"},
                   {"code_challenge", s256(kVerifier)},
                   {"code_challenge_method", "S256"},
                   {"decision", "allow"},
                   {"account", "U0OPERATOR1"}};
    for (const auto& [name, value] : more) form[name] = value;
    std::size_t index = 0;
    for (const char* list : {"scope", "user_scope"}) {
      for (const std::string& scope : split_scopes(form[list])) form["granted_" + std::to_string(index++)] = scope;
      if (form[list].empty()) form.erase(list);
    }
    return ask("POST", path, {}, form).landed()["code"];
  }
  std::string user_consent() { return consent({{"user_scope", "channels:read,chat:write"}}); }
  std::string bot_consent(const std::string& scopes = "channels:read,chat:write") {
    return consent({{"client_id", "1111.2222"},
                    {"redirect_uri", "https://localhost:8081/oauth/callback"},
                    {"scope", scopes},
                    {"code_challenge", ""},
                    {"code_challenge_method", ""}});
  }
  Answered access(const Fields& form, const std::string& method = "oauth.v2.access",
                  const std::string& authorization = "") {
    return ask("POST", "/api/" + method, {}, form, authorization);
  }
  Answered exchange_user(const std::string& code, Fields form = {}) {
    form.try_emplace("client_id", "3333.4444");
    form.try_emplace("code", code);
    form.try_emplace("redirect_uri", "http://localhost:8081/oauth/callback");
    form.try_emplace("code_verifier", kVerifier);
    return access(form);
  }
  Answered exchange_bot(const std::string& code, Fields form = {}) {
    form.try_emplace("client_id", "1111.2222");
    form.try_emplace("client_secret", "classic-secret");
    form.try_emplace("code", code);
    form.try_emplace("redirect_uri", "https://localhost:8081/oauth/callback");
    return access(form);
  }
  Answered refresh(const std::string& token, Fields form = {{"client_id", "3333.4444"}}) {
    form["grant_type"] = "refresh_token";
    form["refresh_token"] = token;
    return access(form);
  }
};

std::string of_user(const Answered& answer, const char* key) {
  return krux::test::emulator::text_or(answer.body["authed_user"], key);
}

}  // namespace

TEST_CASE("the classic flow gives a bot token at the top of the answer") {
  Slack slack;
  const Answered answer = slack.exchange_bot(slack.bot_consent());
  CHECK(answer.http.status == 200);
  CHECK(answer.body["ok"].GetBool());
  CHECK(answer.text("access_token").rfind("xoxb-", 0) == 0);
  CHECK(answer.text("token_type") == "bot");
  CHECK(answer.text("scope") == "channels:read,chat:write");
  CHECK(answer.text("bot_user_id") == "U0BOT000001");
  CHECK(answer.text("app_id") == "A0APP000001");
  CHECK(krux::test::emulator::text_or(answer.body["team"], "id") == "T0EMULATOR1");
  CHECK(of_user(answer, "id") == "U0OPERATOR1");
  CHECK(of_user(answer, "access_token").empty());
  CHECK_FALSE(answer.has("expires_in"));
  CHECK_FALSE(answer.has("refresh_token"));
  const TokenInfo info = slack.provider.find(answer.text("access_token"));
  CHECK(info.speaker == Speaker::bot);
  CHECK(info.person.team == "T0EMULATOR1");
}

TEST_CASE("PKCE gives a user token below authed_user, without a secret") {
  Slack slack;
  const Answered answer = slack.exchange_user(slack.user_consent());
  CHECK(answer.body["ok"].GetBool());
  CHECK_FALSE(answer.has("access_token"));
  CHECK(of_user(answer, "access_token").rfind("xoxp-", 0) == 0);
  CHECK(of_user(answer, "token_type") == "user");
  CHECK(of_user(answer, "scope") == "channels:read,chat:write");
  CHECK(slack.provider.find(of_user(answer, "access_token")).speaker == Speaker::user);
}

TEST_CASE("oauth.v2.user.access gives the user token at the top") {
  Slack slack;
  const std::string code = slack.consent({{"scope", "chat:write"}}, "/oauth/v2_user/authorize");
  const Fields form = {{"client_id", "3333.4444"},
                       {"code", code},
                       {"redirect_uri", "http://localhost:8081/oauth/callback"},
                       {"code_verifier", kVerifier}};
  CHECK(slack.access(form).text("error") == "oauth_authorization_url_mismatch");
  const Answered answer = slack.access(form, "oauth.v2.user.access");
  CHECK(answer.text("access_token").rfind("xoxp-", 0) == 0);
  CHECK(answer.text("token_type") == "user");
  CHECK(of_user(answer, "id") == "U0OPERATOR1");
}

TEST_CASE("every mistake is a 200 with ok false and Slack's word") {
  Slack slack;
  const auto user = [&](const Fields& form) {
    const Answered answer = slack.exchange_user(slack.user_consent(), form);
    CHECK(answer.http.status == 200);
    return answer.text("error");
  };
  CHECK(user({{"code_verifier", std::string(43, 'x')}}) == "invalid_code_verifier");
  CHECK(user({{"client_secret", "public-secret"}}) == "internal_error");
  CHECK(user({{"client_id", "9.9"}}) == "invalid_client_id");
  CHECK(user({{"code", "nonsense"}}) == "invalid_code");
  CHECK(user({{"redirect_uri", ""}}) == "bad_redirect_uri");
  CHECK(user({{"grant_type", "password"}}) == "invalid_grant_type");
  const auto bot = [&](const Fields& form) { return slack.exchange_bot(slack.bot_consent(), form).text("error"); };
  CHECK(bot({{"client_secret", "wrong"}}) == "bad_client_secret");
  CHECK(bot({{"code_verifier", kVerifier}}) == "pkce_not_allowed");
  CHECK(slack.live_grants() == 0);
  const std::string late = slack.user_consent();
  slack.clock.advance_ms(600'000);
  CHECK(slack.exchange_user(late).text("error") == "invalid_code");
}

TEST_CASE("a code works once, and a second use ends what it gave") {
  Slack slack;
  const std::string code = slack.user_consent();
  const Answered first = slack.exchange_user(code);
  CHECK(slack.exchange_user(code).text("error") == "invalid_code");
  CHECK(slack.provider.find(of_user(first, "access_token")).state == TokenState::revoked);
}

TEST_CASE("the secret may come as HTTP Basic") {
  Slack slack;
  const Fields form = {{"code", slack.bot_consent()}, {"redirect_uri", "https://localhost:8081/oauth/callback"}};
  // 1111.2222:classic-secret
  CHECK(slack.access(form, "oauth.v2.access", "Basic MTExMS4yMjIyOmNsYXNzaWMtc2VjcmV0").body["ok"].GetBool());
}

TEST_CASE("rotating tokens live twelve hours, and refreshing gives the token at the top for users too") {
  Slack slack;
  slack.turn(R"({"action":"set","rotation":true})");
  const Answered first = slack.exchange_user(slack.user_consent());
  const std::string access = of_user(first, "access_token"), token = of_user(first, "refresh_token");
  CHECK(access.rfind("xoxe.xoxp-1-", 0) == 0);
  CHECK(token.rfind("xoxe-1-", 0) == 0);
  CHECK(krux::test::emulator::number_or(first.body["authed_user"], "expires_in") == 43200);
  slack.clock.advance_ms(43200LL * 1000);
  CHECK(slack.provider.find(access).state == TokenState::expired);
  const Answered next = slack.refresh(token);
  CHECK(next.text("token_type") == "user");
  CHECK(next.text("access_token").rfind("xoxe.xoxp-1-", 0) == 0);
  CHECK(next.text("refresh_token") != token);
  CHECK(next.number("expires_in") == 43200);
  CHECK(slack.refresh(token).body["ok"].GetBool());
  slack.clock.advance_ms(60'000);
  CHECK(slack.refresh(token).text("error") == "invalid_refresh_token");
  CHECK(slack.counted("refreshes_in_grace") == 1);
  CHECK(slack.counted("refreshes_outdated") == 1);
}

TEST_CASE("at most two access tokens of an installation work") {
  Slack slack;
  slack.turn(R"({"action":"set","rotation":true})");
  const Answered first = slack.exchange_user(slack.user_consent());
  const Answered second = slack.refresh(of_user(first, "refresh_token"));
  CHECK(slack.provider.find(of_user(first, "access_token")).state == TokenState::live);
  const Answered third = slack.refresh(second.text("refresh_token"));
  CHECK(slack.provider.find(of_user(first, "access_token")).state == TokenState::revoked);
  CHECK(slack.provider.find(second.text("access_token")).state == TokenState::live);
  CHECK(slack.provider.find(third.text("access_token")).state == TokenState::live);
}

TEST_CASE("refresh tokens of public apps end after 30 days, and those of classic apps need the secret") {
  Slack slack;
  slack.turn(R"({"action":"set","rotation":true})");
  const Answered user = slack.exchange_user(slack.user_consent());
  const Answered bot = slack.exchange_bot(slack.bot_consent());
  slack.clock.advance_ms(30LL * 24 * 3600 * 1000);
  CHECK(slack.refresh(of_user(user, "refresh_token")).text("error") == "invalid_refresh_token");
  const std::string token = bot.text("refresh_token");
  CHECK(slack.refresh(token, {{"client_id", "1111.2222"}}).text("error") == "bad_client_secret");
  CHECK(slack.refresh(token, {{"client_id", "3333.4444"}}).text("error") == "invalid_refresh_token");
  const Answered next = slack.refresh(token, {{"client_id", "1111.2222"}, {"client_secret", "classic-secret"}});
  CHECK(next.text("access_token").rfind("xoxe.xoxb-1-", 0) == 0);
  CHECK(next.text("bot_user_id") == "U0BOT000001");
}

TEST_CASE("a further consent adds scopes") {
  Slack slack;
  slack.exchange_bot(slack.bot_consent("channels:read"));
  CHECK(slack.exchange_bot(slack.bot_consent("chat:write")).text("scope") == "chat:write,channels:read");
}

TEST_CASE("revoking ends an installation, a rotating one when both its tokens have gone") {
  Slack slack;
  const Answered bot = slack.exchange_bot(slack.bot_consent());
  CHECK(slack.provider.revoke(bot.text("access_token")));
  CHECK_FALSE(slack.provider.revoke(bot.text("access_token")));
  CHECK(slack.live_grants() == 0);
  slack.turn(R"({"action":"set","rotation":true})");
  const Answered user = slack.exchange_user(slack.user_consent());
  CHECK(slack.provider.revoke(of_user(user, "access_token")));
  CHECK(slack.live_grants() == 1);
  CHECK(slack.refresh(of_user(user, "refresh_token")).body["ok"].GetBool());
  CHECK_FALSE(slack.provider.revoke("nonsense"));
  const Answered last = slack.exchange_user(slack.user_consent());
  CHECK(slack.provider.revoke(of_user(last, "access_token")));
  CHECK(slack.provider.revoke(of_user(last, "refresh_token")));
  CHECK(slack.live_grants() == 1);
}

TEST_CASE("refreshes are refused with the word that a test wants") {
  Slack slack;
  slack.turn(R"({"action":"set","rotation":true,"refuse_refreshes":1,"refresh_error":"token_revoked"})");
  const Answered user = slack.exchange_user(slack.user_consent());
  CHECK(slack.refresh(of_user(user, "refresh_token")).text("error") == "token_revoked");
  CHECK(slack.refresh(of_user(user, "refresh_token")).body["ok"].GetBool());
}

}  // namespace KRUXOS_TEST_FILE
