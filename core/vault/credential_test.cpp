#include "core/vault/credential.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

Credential sample() {
  return {Secret("access"), Secret("refresh:1"), Secret("before"),   Secret("s3cret"),
          "client",         "https://a/token",   "https://a/revoke", "authed_user"};
}

}  // namespace

TEST_CASE("a credential's text gives back the credential", "[vault]") {
  const auto text = credential_text(sample());
  const auto read = parse_credential(text.reveal());
  REQUIRE(read);
  CHECK(read->access_token.reveal() == "access");
  CHECK(read->refresh_token.reveal() == "refresh:1");
  CHECK(read->previous_refresh_token.reveal() == "before");
  CHECK(read->client_secret.reveal() == "s3cret");
  CHECK(read->client_id == "client");
  CHECK(read->token_url == "https://a/token");
  CHECK(read->revoke_url == "https://a/revoke");
  CHECK(read->token_at == "authed_user");
  CHECK(parse_access_token(text.reveal())->reveal() == "access");
  CHECK(copy_of(*read).refresh_token.reveal() == "refresh:1");
}

TEST_CASE("what is no credential's text is refused, whatever its bytes", "[vault]") {
  const auto text = std::string(credential_text(sample()).reveal());
  for (std::size_t n = 0; n < text.size(); ++n) CHECK_FALSE(parse_credential(text.substr(0, n)));
  CHECK_FALSE(parse_credential(text + "x"));
  CHECK_FALSE(parse_credential("1:99999999999999999999:a"));
  CHECK_FALSE(parse_credential("1:-1:a"));
  CHECK_FALSE(parse_access_token("1:7:access"));
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    auto broken = text;
    broken[random() % broken.size()] = static_cast<char>(random());
    parse_credential(broken);
    parse_access_token(broken);
  }
}

}  // namespace KRUXOS_TEST_FILE
