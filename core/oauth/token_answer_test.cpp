#include "core/oauth/token_answer.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

TokenResult parse(std::string_view body, int status = 200, const TokenAnswerRules& rules = {}) {
  auto bytes = make_secret(body);
  return parse_token_answer(status, bytes, rules);
}

TokenAnswer taken(std::string_view body, const TokenAnswerRules& rules = {}) {
  auto result = parse(body, 200, rules);
  REQUIRE(std::holds_alternative<TokenAnswer>(result));
  return std::get<TokenAnswer>(std::move(result));
}

TokenFailure failure(std::string_view body, int status = 200, const TokenAnswerRules& rules = {}) {
  const auto result = parse(body, status, rules);
  REQUIRE(std::holds_alternative<TokenFailure>(result));
  return std::get<TokenFailure>(result);
}

}  // namespace

TEST_CASE("a token answer is read", "[oauth]") {
  const auto answer = taken(R"({"access_token":"at","refresh_token":"rt","expires_in":3599,"token_type":"bearer",)"
                            R"("scope":"a b,c","id_token":"x"})");
  CHECK(answer.access_token.reveal() == "at");
  CHECK(answer.refresh_token.reveal() == "rt");
  CHECK(answer.expires_in_ms == 3'599'000);
  CHECK(answer.scopes == std::vector<std::string>{"a", "b", "c"});
  const auto bare = taken(R"({"access_token":"at"})");
  CHECK(bare.refresh_token.empty());
  CHECK_FALSE(bare.expires_in_ms);
  CHECK_FALSE(bare.scopes);
  CHECK(taken(R"({"access_token":"at","expires_in":"43200"})").expires_in_ms == 43'200'000);
  CHECK(taken(R"({"access_token":"at","expires_in":12.7})").expires_in_ms == 12'000);
  CHECK(taken(R"({"access_token":"at","expires_in":null,"refresh_token":null})").refresh_token.empty());
  CHECK(taken(R"({"access_token":"at","expires_in":9223372036854775807})").expires_in_ms < 1LL << 50);
  CHECK(taken(R"({"access_token":"at","expires_in":3.6e3,"n":0.0000000001e-2147483639})").expires_in_ms == 3'600'000);
}

TEST_CASE("tokens stand in the member that the flow names", "[oauth]") {
  const std::string body =
      R"({"ok":true,"access_token":"bot","authed_user":{"id":"U1","scope":"s","access_token":"user","token_type":"user"}})";
  const TokenAnswerRules rules{"authed_user", false, false, {"user"}};
  CHECK(taken(body, rules).access_token.reveal() == "user");
  CHECK(taken(body, rules).scopes == std::vector<std::string>{"s"});
  CHECK(failure(R"({"ok":true,"access_token":"bot","authed_user":{"id":"U1"}})", 200, rules).message ==
        "The service's answer was not understood: it holds no access token.");
  CHECK(failure(R"({"ok":true,"access_token":"bot","authed_user":"U1"})", 200, rules).for_good == false);
  const TokenAnswerRules refreshed{"authed_user", true, true, {}};
  CHECK(taken(R"({"ok":true,"access_token":"at","token_type":"user"})", refreshed).access_token.reveal() == "at");
}

TEST_CASE("a token of another type is not taken", "[oauth]") {
  CHECK_THAT(failure(R"({"access_token":"at","token_type":"mac"})").message, Catch::Contains("of a type"));
  CHECK(taken(R"({"access_token":"at","token_type":"bot"})", {"", false, false, {"bot"}}).access_token.reveal() ==
        "at");
}

TEST_CASE("errors are for good or for now", "[oauth]") {
  const auto good =
      failure(R"({"error":"invalid_grant","error_description":"Token has been expired or revoked."})", 400);
  CHECK(good.for_good);
  CHECK(good.error == "invalid_grant");
  CHECK(good.message == "invalid_grant: Token has been expired or revoked.");
  for (const char* error : {"invalid_client", "unauthorized_client", "invalid_refresh_token", "invalid_client_id",
                            "bad_client_secret", "account_inactive", "token_revoked", "token_expired"}) {
    CHECK(failure(R"({"ok":false,"error":")" + std::string(error) + "\"}").for_good);
    CHECK(failure(R"({"error":")" + std::string(error) + "\"}", 401).for_good);
  }
  for (const char* error : {"temporarily_unavailable", "server_error", "ratelimited", "internal_error", "forbidden",
                            "access_denied", "Invalid_grant", "unheard_of"}) {
    CHECK_FALSE(failure(R"({"error":")" + std::string(error) + "\"}", 403).for_good);
    CHECK_FALSE(failure(R"({"ok":false,"error":")" + std::string(error) + "\"}").for_good);
  }
  CHECK_FALSE(failure(R"({"error":"invalid_grant"})", 503).for_good);
  CHECK_FALSE(failure(R"({"error":"x"})", 429).for_good);
  CHECK_FALSE(failure("<html>forbidden</html>", 403).for_good);
  CHECK_FALSE(failure(R"({"message":"not here"})", 404).for_good);
  CHECK_FALSE(failure("", 302).for_good);
  const auto odd = failure("{\"error\":\"a\\u001b[31m\",\"error_description\":\"b\\u0007\"}", 400);
  CHECK(odd.error.empty());
  CHECK(odd.message == "an error without a name: b\\x07");
}

TEST_CASE("what is no token answer is refused, whatever its bytes", "[oauth]") {
  for (const std::string body :
       {"", "null", "[]", "\"x\"", "{", "{}", R"({"access_token":1})", R"({"access_token":""})",
        R"({"access_token":"a b"})", R"({"access_token":"a\nb"})", R"({"access_token":"at","expires_in":-1})",
        R"({"access_token":"at","expires_in":"soon"})", R"({"access_token":"at","refresh_token":7})",
        R"({"access_token":"at","refresh_token":""})", "{\"access_token\":\"\xff\"}"}) {
    INFO(body);
    CHECK_FALSE(failure(body).for_good);
  }
  CHECK_FALSE(failure(std::string(R"({"access_token":"a)") + '\0' + "\"}").for_good);
  CHECK_FALSE(failure(R"({"access_token":")" + std::string(100'000, 'a') + "\"}").for_good);
  CHECK_FALSE(failure(std::string(60'000, '[')).for_good);
  const std::string good = R"({"access_token":"at","refresh_token":"rt","expires_in":3599,"scope":"a b","ok":true})";
  std::mt19937 random(3);
  for (int i = 0; i < 30'000; ++i) {
    auto broken = good.substr(0, random() % (good.size() + 1));
    for (int n = static_cast<int>(random() % 4); n > 0 && !broken.empty(); --n)
      broken[random() % broken.size()] = static_cast<char>(random());
    parse(broken, random() % 2 ? 200 : 400, {random() % 2 ? "scope" : "", random() % 2 == 0, false, {}});
  }
}

}  // namespace KRUXOS_TEST_FILE
