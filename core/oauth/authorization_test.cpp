#include "core/oauth/authorization.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Kind = Callback::Kind;

namespace {

OAuthFlow flow() {
  OAuthFlow f;
  f.name = "desktop";
  f.authorize_url = "https://auth.example/authorize";
  f.authorize_parameters = {{"access_type", "offline"}, {"prompt", "consent"}};
  return f;
}

}  // namespace

TEST_CASE("the address that the browser opens has all parameters, escaped", "[oauth]") {
  const AuthorizationRequest request{"id&1",
                                     "http://127.0.0.1:8080/oauth/callback",
                                     {"a.read", "b/write"},
                                     "st",
                                     "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"};
  CHECK(authorize_address(flow(), request) ==
        "https://auth.example/authorize?response_type=code&client_id=id%261&redirect_uri=http%3A%2F%2F127.0.0.1%3A8080"
        "%2Foauth%2Fcallback&scope=a.read%20b%2Fwrite&state=st&code_challenge="
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&access_type=offline&prompt=consent");
  auto other = flow();
  other.pkce = false;
  other.scope_parameter = "user_scope";
  other.scope_separator = ",";
  other.authorize_parameters.clear();
  CHECK(authorize_address(other, {"id", "http://localhost:1/cb", {"a", "b"}, "st", ""}) ==
        "https://auth.example/authorize?response_type=code&client_id=id&redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcb&"
        "user_scope=a%2Cb&state=st");
}

TEST_CASE("a callback brings a code and the state", "[oauth]") {
  const auto callback = parse_callback("/oauth/callback?state=s-1&code=4%2F0Ab_c&scope=a%20b&iss=x");
  CHECK(callback.kind == Kind::kCode);
  CHECK(callback.code.reveal() == "4/0Ab_c");
  CHECK(callback.state.reveal() == "s-1");
}

TEST_CASE("a callback that says no says why", "[oauth]") {
  const auto denied = parse_callback("/oauth/callback?error=access_denied&state=s");
  CHECK(denied.kind == Kind::kDenied);
  CHECK(denied.message == "The access was denied in the browser.");
  CHECK(denied.state.reveal() == "s");
  const auto other = parse_callback("/oauth/callback?error=invalid_scope&error_description=no%1b%5B31m+way&state=s");
  CHECK(other.message == "The service refused: invalid_scope, no\\x1b[31m way.");
}

TEST_CASE("other callbacks are told apart", "[oauth]") {
  CHECK(parse_callback("/favicon.ico").kind == Kind::kForeign);
  CHECK(parse_callback("/oauth/callback/").kind == Kind::kForeign);
  CHECK(parse_callback("/oauth/callbac?code=a&state=s").kind == Kind::kForeign);
  CHECK(parse_callback("").kind == Kind::kForeign);
  CHECK(parse_callback("/oauth/callback").kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?code=&state=s").kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?code=a&code=b&state=s").kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?code=a&state=s&state=t").kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?code=a%0ab&state=s").kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?code=a%00&state=s").kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?state=s&code=" + std::string(9000, 'a')).kind == Kind::kBad);
  CHECK(parse_callback(std::string(100'000, 'a')).kind == Kind::kBad);
  CHECK(parse_callback("/oauth/callback?code=a&state=").state.empty());
  CHECK(parse_callback("/other?code=a&state=s", "/other").kind == Kind::kCode);
}

TEST_CASE("whatever a callback's bytes are, it is judged", "[oauth]") {
  const std::string good = "/oauth/callback?state=abcdef&code=4%2F0Ab_c&error_description=%e2%82%ac&error=x";
  std::mt19937 random(1);
  for (int i = 0; i < 50'000; ++i) {
    auto target = good.substr(0, 1 + random() % good.size());
    for (int n = static_cast<int>(random() % 4); n > 0; --n)
      target[random() % target.size()] = static_cast<char>(random());
    const auto callback = parse_callback(target);
    CHECK((callback.kind == Kind::kCode || !callback.message.empty()));
  }
}

TEST_CASE("the target of a pasted address", "[oauth]") {
  CHECK(target_of_address(" http://127.0.0.1:8080/oauth/callback?code=a&state=b\r\n") ==
        "/oauth/callback?code=a&state=b");
  CHECK(target_of_address("https://proxy.example/oauth/callback?code=a") == "/oauth/callback?code=a");
  for (const char* bad : {"", "  ", "http://", "http://127.0.0.1", "ftp://a/b", "/oauth/callback?code=a"}) {
    CHECK(target_of_address(bad) == "");
  }
}

}  // namespace KRUXOS_TEST_FILE
