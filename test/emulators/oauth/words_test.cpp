#include "emulators/oauth/words.hpp"

#include <catch2/catch.hpp>

#include "emulators/oauth/provider.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::oauth;

TEST_CASE("S256 is that of RFC 7636 and of Slack's documents") {
  CHECK(s256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  CHECK(s256("secretpassword") == "ldMBaaWcQYtSATMV_IG8mf3wp7A6EW80arYoSW80ntU");
}

TEST_CASE("a verifier has 43 to 128 unreserved characters") {
  CHECK(is_verifier(std::string(43, 'a')));
  CHECK(is_verifier(std::string(128, '~')));
  CHECK_FALSE(is_verifier(std::string(42, 'a')));
  CHECK_FALSE(is_verifier(std::string(129, 'a')));
  CHECK_FALSE(is_verifier(std::string(42, 'a') + "+"));
  CHECK_FALSE(is_verifier(""));
}

TEST_CASE("addresses are taken apart and odd ones refused") {
  const auto address = parse_address("http://[::1]:8080/a?b=c");
  REQUIRE(address);
  CHECK(address->host == "[::1]");
  CHECK(address->port == "8080");
  CHECK(address->path == "/a?b=c");
  CHECK(is_loopback(*address));
  CHECK(is_loopback(*parse_address("http://localhost/")));
  CHECK_FALSE(is_loopback(*parse_address("https://127.0.0.1:1/")));
  CHECK_FALSE(is_loopback(*parse_address("http://127.0.0.1.example.com/")));
  for (const char* odd : {"", "localhost", "://x", "http://", "http://a@b/", "http://localhost/#x", "http:///path"}) {
    CAPTURE(odd);
    CHECK_FALSE(parse_address(odd));
  }
}

TEST_CASE("scopes part at blanks and commas, once each") {
  CHECK(split_scopes(" a b,a,,c ") == Scopes{"a", "b", "c"});
  CHECK(split_scopes("").empty());
  CHECK(join_scopes({"a", "b"}, ',') == "a,b");
}

TEST_CASE("a query is added to an address, to one that has a query too") {
  CHECK(with_query("http://a/", {{"x", "1 2"}, {"y", "&"}}) == "http://a/?x=1%202&y=%26");
  CHECK(with_query("http://a/?b=c", {{"x", "1"}}) == "http://a/?b=c&x=1");
}

TEST_CASE("minted texts differ") {
  Mint mint;
  CHECK(mint.text("a") != mint.text("a"));
  CHECK(Mint().text("a") == Mint().text("a"));
}

TEST_CASE("clients are described in words, and wrong words refused") {
  std::string problem;
  const auto client =
      read_client("id=1.2,secret=s,kind=pkce,redirect=http://localhost:8081/oauth/callback,rotation", problem);
  REQUIRE(client);
  CHECK(client->kind == ClientKind::pkce);
  CHECK(client->redirects.size() == 1);
  CHECK(client->rotation);
  for (const char* wrong : {"", "secret=s", "id=a,kind=public", "id=a,colour=red", "id=a,redirect=localhost"}) {
    CAPTURE(wrong);
    CHECK_FALSE(read_client(wrong, problem));
    CHECK_FALSE(problem.empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
