#include "core/oauth/token_client.hpp"

#include <catch2/catch.hpp>

#include "core/net/http_transport.hpp"
#include "core/oauth/provider_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

const Secret kCode("the+code"), kVerifier("the-verifier"), kClientSecret("s&cret"), kNothing;

struct Rig {
  SystemClock clock;
  TokenClient client{make_http_transport({}), clock};
  OAuthFlow flow;

  TokenResult exchange_code(const std::string& url, const Secret& client_secret = kClientSecret) {
    return client.exchange_code(
        "notes", {flow, url, "http://127.0.0.1:8080/oauth/callback", "id", kCode, kVerifier, client_secret});
  }
  TokenFailure failure(const std::string& url) {
    const auto result = exchange_code(url);
    REQUIRE(std::holds_alternative<TokenFailure>(result));
    return std::get<TokenFailure>(result);
  }
};

}  // namespace

TEST_CASE("a code is exchanged by a form that has everything", "[oauth]") {
  Provider provider({tokens("at", "rt", 3600)});
  Rig rig;
  const auto result = rig.exchange_code(provider.url());
  REQUIRE(std::holds_alternative<TokenAnswer>(result));
  CHECK(std::get<TokenAnswer>(result).refresh_token.reveal() == "rt");
  const auto request = provider.requests().at(0);
  CHECK(request.starts_with("POST /token HTTP/1.1\r\n"));
  CHECK_THAT(request, Catch::Contains("application/x-www-form-urlencoded"));
  CHECK_THAT(request, Catch::EndsWith("\r\n\r\ngrant_type=authorization_code&code=the%2Bcode&redirect_uri=http%3A%2F%2F"
                                      "127.0.0.1%3A8080%2Foauth%2Fcallback&client_id=id&client_secret=s%26cret&"
                                      "code_verifier=the-verifier"));
  rig.flow.pkce = false;
  rig.exchange_code(provider.url(), kNothing);
  CHECK(provider.requests().at(1).find("code_verifier") == std::string::npos);
  CHECK(provider.requests().at(1).find("client_secret") == std::string::npos);
}

TEST_CASE("what goes wrong with a token address is a sentence without a secret", "[oauth]") {
  Rig rig;
  SECTION("the service repeats what it was sent") {
    Provider provider({answer(R"({"error":"bad","error_description":"no code the+code"})", "400 Bad Request"),
                       answer(R"({"error":"the-verifier"})", "400 Bad Request")});
    CHECK(rig.failure(provider.url()).message == "an error that names a secret");
    const auto second = rig.failure(provider.url());
    CHECK(second.message.find("verifier") == std::string::npos);
    CHECK(second.error.empty());
  }
  SECTION("a redirect is not followed") {
    Provider elsewhere({tokens("at", "rt", 3600)});
    Provider provider({answer("", "307 Temporary Redirect", "Location: " + elsewhere.url() + "\r\n")});
    CHECK_FALSE(rig.failure(provider.url()).for_good);
    CHECK(elsewhere.requests().empty());
  }
  SECTION("nobody answers") {
    CHECK_FALSE(rig.failure("http://127.0.0.1:" + std::to_string(refusing_port()) + "/token").for_good);
  }
  SECTION("the answer breaks off") {
    Provider provider({"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"access"});
    provider.answer_next("");
    CHECK_FALSE(rig.failure(provider.url()).for_good);
  }
  SECTION("the answer is too large") {
    Provider provider({answer(std::string(kLargestTokenAnswer + 1, ' '))});
    CHECK_FALSE(rig.failure(provider.url()).for_good);
  }
  SECTION("the address is none of https") {
    CHECK_FALSE(rig.failure("http://notes.example/token").for_good);
  }
  SECTION("it asks to wait") {
    Provider provider({error("slow_down", "429 Too Many Requests", "Retry-After: 7\r\n")});
    CHECK(rig.failure(provider.url()).retry_after_ms == 7'000);
  }
}

TEST_CASE("both tokens are revoked, and what is unknown counts as forgotten", "[oauth]") {
  Rig rig;
  Provider provider({answer("{}"), answer(R"({"ok":true,"revoked":true})"), error("invalid_token"),
                     error("invalid_token"), error("invalid_client", "401 Unauthorized"),
                     answer("busy", "503 Service Unavailable"), answer("")});
  auto held = credential("https://elsewhere.example/token");
  held.revoke_url = provider.url();
  CHECK_FALSE(rig.client.revoke({"notes", "T1", 1}, held));
  CHECK_THAT(
      provider.requests().at(0),
      Catch::EndsWith("token=refresh-0&token_type_hint=refresh_token&client_id=client-id&client_secret=client-secret"));
  CHECK_THAT(provider.requests().at(1), Catch::Contains("token=access-0&token_type_hint=access_token"));
  CHECK_FALSE(rig.client.revoke({"notes", "T1", 1}, held));
  CHECK(rig.client.revoke({"notes", "T1", 1}, held).value_or("") ==
        "the service answered with status 401: invalid_client: as said.");
  CHECK(rig.client.revoke({"notes", "T1", 1}, held).value_or("") ==
        "the service answered with status 503: it answered with status 503.");
  held.refresh_token = Secret();
  CHECK_FALSE(rig.client.revoke({"notes", "T1", 1}, held));
  REQUIRE(provider.requests().size() == 7);
  CHECK_THAT(provider.requests().at(6), Catch::Contains("token=access-0&token_type_hint=access_token"));
}

TEST_CASE("a refusal that comes with status 200 is one, unless the token has gone already", "[oauth]") {
  Rig rig;
  const auto refusal = [](const std::string& word) { return answer(R"({"ok":false,"error":")" + word + "\"}"); };
  Provider provider({refusal("token_revoked"), refusal("token_expired"), refusal("account_inactive"),
                     answer(R"({"ok":true,"revoked":true})"), refusal("internal_error")});
  auto held = credential("https://elsewhere.example/token");
  held.revoke_url = provider.url();
  CHECK_FALSE(rig.client.revoke({"notes", "T1", 1}, held));
  CHECK_FALSE(rig.client.revoke({"notes", "T1", 1}, held));
  CHECK_THAT(rig.client.revoke({"notes", "T1", 1}, held).value_or(""), Catch::Contains("internal_error"));
}

}  // namespace KRUXOS_TEST_FILE
