#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"
#include "host/cli/secret_body.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

using Asked = std::vector<std::string>;

const std::string kFile =
    R"({"vault":{"mode":"key_file","locked":false,"key_file":"/k","tokens":2,"key_made_at_ms":0}})";
const std::string kLocked = R"({"vault":{"mode":"passphrase","locked":true,"passphrase_set":true,"tokens":2,)"
                            R"("argon2_passes":3,"argon2_memory_mib":256,"next_try_in_ms":1500}})";

}  // namespace

TEST_CASE("the vault's status tells mode, lock, key and tokens", "[cli]") {
  CliFixture f;
  f.api.answers["vault"] = kFile;
  CHECK(f.run({"vault", "status"}) == 0);
  for (const auto* part : {"open", "the key file /k", "not known", "2"}) CHECK(has(f.out(), part));
  f.api.answers["vault"] = kLocked;
  CHECK(f.run({"vault", "status"}) == 0);
  for (const auto* part : {"locked", "a passphrase (Argon2id, 3 passes, 256 MiB)", "in 2 s", "kruxos vault unlock"})
    CHECK(has(f.out(), part));
  CHECK(f.run({"--json", "vault", "status"}) == 0);
  CHECK(f.out() == kLocked + "\n");
}

TEST_CASE("a passphrase comes from standard input and from nowhere else", "[cli]") {
  CliFixture f;
  f.api.answers["vault"] = kLocked;
  CHECK(f.run({"vault", "unlock", "secret"}) == 2);
  CHECK(f.run({"vault", "unlock", "--passphrase", "secret"}) == 2);
  CHECK(f.run({"vault", "unlock"}) == 2);
  CHECK(has(f.err(), "No passphrase was given"));
  f.api.asked();
  f.console.lines = {"p\"ass\\ phräse\t1"};
  CHECK(f.run({"vault", "unlock"}) == 0);
  const auto asked = f.api.asked();
  REQUIRE(asked.size() == 2);
  CHECK(asked[1].starts_with("unlock_vault p\"ass\\ phräse\t1 operator:"));
  f.console.lines = {"\xff\xfe"};
  CHECK(f.run({"vault", "unlock"}) == 1);
  CHECK(f.api.asked() == Asked{"vault"});
  f.api.answers["vault"] = kFile;
  CHECK(f.run({"vault", "unlock"}) == 0);
  CHECK(f.api.asked() == Asked{"vault", "vault"});
}

TEST_CASE("a wrong passphrase is told in the host's words", "[cli]") {
  CliFixture f;
  f.api.answers["vault"] = kLocked;
  f.console.lines = {"wrong"};
  f.api.errors.emplace("unlock_vault", Error(ErrorCode::kNotAuthenticated, "The passphrase is wrong."));
  CHECK(f.run({"vault", "unlock"}) == 1);
  CHECK(has(f.err(), "The passphrase is wrong."));
}

TEST_CASE("a new passphrase is typed twice on a terminal", "[cli]") {
  CliFixture f;
  f.api.answers["vault"] = kFile;
  f.console.terminal = true;
  f.console.lines = {"one passphrase", "another one"};
  CHECK(f.run({"vault", "passphrase"}) == 1);
  CHECK(has(f.err(), "not the same"));
  CHECK(f.api.asked() == Asked{"vault"});
  f.console.lines = {"one passphrase", "one passphrase"};
  CHECK(f.run({"vault", "passphrase"}) == 0);
  CHECK(f.api.asked().back().starts_with("set_vault_passphrase one passphrase operator:"));
  f.console.terminal = false;
  f.api.answers["vault"] = R"({"vault":{"mode":"passphrase","locked":false,"tokens":1}})";
  f.console.lines = {"the old one", "the new one"};
  CHECK(f.run({"vault", "passphrase"}) == 0);
  CHECK(f.api.asked().back().starts_with("set_vault_passphrase the old one the new one operator:"));
}

TEST_CASE("rotating asks for the passphrase where there is one, and for none with a key file", "[cli]") {
  CliFixture f;
  f.api.answers["vault"] = kFile;
  CHECK(f.run({"vault", "rotate"}) == 0);
  CHECK(f.api.asked().back().starts_with("rotate_vault operator:"));
  f.api.answers["vault"] = R"({"vault":{"mode":"passphrase","locked":false}})";
  f.console.lines = {"mine"};
  CHECK(f.run({"vault", "rotate"}) == 0);
  CHECK(f.api.asked().back().starts_with("rotate_vault mine operator:"));
  f.console.lines = {"mine"};
  CHECK(f.run({"vault", "passphrase", "--remove"}) == 0);
  CHECK(f.api.asked().back().starts_with("use_vault_key_file mine operator:"));
}

TEST_CASE("a body with secrets leaves out what is empty and escapes the rest", "[cli]") {
  const auto body = cli::secret_body({{"a", ""}, {"b", "x\"\\\n\x1f"}, {"c", "é"}});
  CHECK(as_view(body) == "{\"b\":\"x\\\"\\\\\\u000a\\u001f\",\"c\":\"é\"}");
  CHECK(as_view(cli::secret_body({{"a", ""}})) == "{}");
}

}  // namespace KRUXOS_TEST_FILE
