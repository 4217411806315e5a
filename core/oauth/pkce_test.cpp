#include "core/oauth/pkce.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("the challenge is that of RFC 7636, appendix B", "[oauth]") {
  CHECK(challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST_CASE("base64url has no padding and no plus", "[oauth]") {
  CHECK(base64url("") == "");
  CHECK(base64url("\xfb\xff") == "-_8");
  CHECK(base64url("abcd") == "YWJjZA");
}

TEST_CASE("random texts are unreserved characters, 43 of them, and none comes twice", "[oauth]") {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const auto made = random_text();
    const std::string text(made.reveal());
    CHECK(text.size() == 43);
    CHECK(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string::npos);
    CHECK(seen.insert(text).second);
  }
}

}  // namespace KRUXOS_TEST_FILE
