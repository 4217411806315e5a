#include "core/vault/vault.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

const std::string kToken = "n-1234567890-very-secret-token-abcdefghij";

struct Fixture {
  support::Scratch scratch;
  fs::path data = scratch.path() / "data", key = scratch.path() / "config/kruxos/vault.key";
  DrivenClock clock;
  std::unique_ptr<GroupCommit> store;

  Fixture() {
    fs::create_directory(data);
    store = std::make_unique<GroupCommit>(data / "kruxos.db", kLedgerKind);
  }
  Vault open() { return Vault(*store, clock, {key, data, VaultMode::kKeyFile, {}}); }
  std::string refusal() { return refusal(key); }
  std::string refusal(const fs::path& file) {
    try {
      Vault(*store, clock, {file, data, VaultMode::kKeyFile, {}});
      return "opened";
    } catch (const ConfigError& e) {
      return e.what();
    }
  }
  void sql(const std::string& text) {
    store->run([&](SQLite::Database& db) { execute(db.getHandle(), text); });
  }
};

Connection account(const std::string& id) {
  Connection c;
  c.service = "notes";
  c.account_id = id;
  c.display_name = "Team";
  c.scopes = {"read", "write"};
  c.scopes_known = true;
  c.token_origin = "https://notes.example";
  return c;
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("the key file is made once, private, and opens what is stored after a restart") {
  Fixture f;
  std::uint32_t generation = 0;
  {
    auto vault = f.open();
    generation = vault.connect(account("T1"), Secret(kToken));
  }
  struct stat info {};
  REQUIRE(stat(f.key.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(info.st_size == 65);
  REQUIRE(stat(f.key.parent_path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  const auto key = read_file(f.key);

  auto vault = f.open();
  CHECK(read_file(f.key) == key);
  REQUIRE(vault.token("notes", "T1", generation));
  CHECK(vault.token("notes", "T1", generation)->reveal() == kToken);
  const auto all = vault.connections();
  REQUIRE(all.size() == 1);
  CHECK(all[0].scopes == std::vector<std::string>{"read", "write"});
  CHECK(all[0].connected_at_ms == f.clock.wall_ms());
  CHECK(all[0].token_origin == "https://notes.example");
  CHECK_FALSE(all[0].needs_attention);
}

TEST_CASE(
    "an account that is connected through another adapter is another connection, and through the same one it stays") {
  Fixture f;
  const auto through = [](const std::string& adapter) {
    auto c = account("T1");
    c.adapter = adapter;
    return c;
  };
  {
    auto vault = f.open();
    CHECK(vault.connect(through(""), Secret(kToken)) == 1);  // before it was noted
    vault.note_adapter("notes", "T1", kAdapterPlugin);
    CHECK_THROWS_AS(vault.note_adapter("notes", "T2", kAdapterPlugin), Error);
  }
  auto vault = f.open();
  CHECK(vault.connections().at(0).adapter == kAdapterPlugin);
  CHECK(vault.connect(through(kAdapterPlugin), Secret(kToken)) == 1);
  CHECK(vault.connect(through(kAdapterBundle), Secret(kToken)) == 2);
  CHECK_FALSE(vault.token("notes", "T1", 1));
  CHECK(vault.connect(through(kAdapterMock), Secret(kToken)) == 3);
  CHECK(vault.connections().at(0).adapter == kAdapterMock);
  CHECK(is_same_adapter(through(""), kAdapterBundle));
  CHECK_FALSE(is_same_adapter(through(""), kAdapterMock));
}

TEST_CASE("no file of the data directory holds the token or the key") {
  Fixture f;
  {
    auto vault = f.open();
    vault.connect(account("T1"), Secret(kToken));
    vault.set_attention("notes", "T1", "The service refuses the token.");
  }
  const auto key = read_file(f.key).substr(0, 64);
  int files = 0;
  for (int closed = 0; closed < 2; ++closed) {
    for (const auto& entry : fs::directory_iterator(f.data)) {
      ++files;
      const auto bytes = read_file(entry.path());
      CHECK(bytes.find(kToken) == std::string::npos);
      CHECK(bytes.find(kToken.substr(0, 12)) == std::string::npos);
      CHECK(bytes.find(key) == std::string::npos);
    }
    // What may be read stands there: while it is open in the log, or where the log has been written over to.
    const auto log = f.data / "kruxos.db-wal";
    const auto all = read_file(f.data / "kruxos.db") + (fs::exists(log) ? read_file(log) : std::string());
    CHECK(all.find("https://notes.example") != std::string::npos);
    f.store.reset();
  }
  CHECK(files > 2);
}

TEST_CASE("another token of the same principal keeps the generation, another principal gets a new one") {
  Fixture f;
  auto mine = account("T1");
  mine.principal = "U1";
  {
    auto vault = f.open();
    CHECK(vault.connect(mine, Secret(kToken)) == 1);
    vault.set_attention("notes", "T1", "refused");
  }
  auto vault = f.open();
  CHECK(vault.connections().at(0).principal == "U1");
  CHECK(vault.connect(mine, Secret("renewed")) == 1);
  CHECK(vault.token("notes", "T1", 1)->reveal() == "renewed");
  CHECK_FALSE(vault.connections().at(0).needs_attention);
  mine.principal = "U2";
  CHECK(vault.connect(mine, Secret("other")) == 2);
  CHECK_FALSE(vault.token("notes", "T1", 1));
  vault.disconnect("notes", "T1");
  CHECK(vault.connect(mine, Secret("again")) == 3);
}

TEST_CASE("generations go up, over a disconnection too, and only the present one has a token") {
  Fixture f;
  {
    auto vault = f.open();
    CHECK(vault.connect(account("T1"), Secret(kToken)) == 1);
    auto other = account("T1");
    other.principal = "U2";
    CHECK(vault.connect(other, Secret("second")) == 2);
    CHECK_FALSE(vault.token("notes", "T1", 1));
    CHECK(vault.token("notes", "T1", 2)->reveal() == "second");
    CHECK(vault.connect(account("T2"), Secret("x")) == 1);
    vault.disconnect("notes", "T1");
    CHECK_FALSE(vault.token("notes", "T1", 2));
    CHECK(vault.connections().size() == 1);
    vault.disconnect("notes", "T1");
  }
  auto vault = f.open();
  CHECK_FALSE(vault.token("notes", "T1", 2));
  CHECK(vault.connect(account("T1"), Secret("third")) == 3);
  CHECK_FALSE(vault.token("notes", "nobody", 1));
  CHECK_FALSE(vault.token("other", "T1", 3));
}

TEST_CASE("attention is kept, and ends with a new connection") {
  Fixture f;
  {
    auto vault = f.open();
    vault.connect(account("T1"), Secret(kToken));
    vault.set_attention("notes", "T1", "The service refuses the token.");
    CHECK_THROWS_AS(vault.set_attention("notes", "T2", "x"), Error);
  }
  auto vault = f.open();
  CHECK(vault.connections().at(0).attention == "The service refuses the token.");
  CHECK(vault.connections().at(0).needs_attention);
  vault.connect(account("T1"), Secret(kToken));
  CHECK_FALSE(vault.connections().at(0).needs_attention);
}

TEST_CASE("a key file in the data directory is refused, also by a symbolic link") {
  Fixture f;
  CHECK_THAT(f.refusal(f.data / "vault.key"), Catch::Contains("lies inside the data directory"));
  CHECK_THAT(f.refusal(f.data / "keys/../vault.key"), Catch::Contains("lies inside"));
  CHECK_FALSE(fs::exists(f.data / "vault.key"));
  fs::create_directory_symlink(f.data, f.scratch.path() / "elsewhere");
  CHECK_THAT(f.refusal(f.scratch.path() / "elsewhere/vault.key"), Catch::Contains("lies inside"));
  std::ofstream(f.data / "k") << std::string(64, 'a');
  fs::create_symlink(f.data / "k", f.scratch.path() / "link.key");
  CHECK_THAT(f.refusal(f.scratch.path() / "link.key"), Catch::Contains("lies inside"));
  CHECK(f.refusal(f.scratch.path() / "data-keys/vault.key") == "opened");
}

TEST_CASE("a key file that others can read, or that is no key, is refused") {
  Fixture f;
  { auto vault = f.open(); }
  for (const mode_t mode : {0640, 0604, 0660, 0620}) {
    chmod(f.key.c_str(), mode);
    CHECK_THAT(f.refusal(), Catch::Contains("chmod 600"));
  }
  chmod(f.key.c_str(), 0600);
  CHECK(f.refusal() == "opened");
  const std::string good = read_file(f.key);
  for (const auto& bad : {std::string(), std::string("\n"), good.substr(0, 63), good + "0", std::string(64, 'g'),
                          std::string(64, '\0'), good + "\n"}) {
    std::ofstream(f.key, std::ios::trunc) << bad;
    CHECK_THAT(f.refusal(), Catch::Contains("does not hold a key"));
  }
  fs::remove(f.key);
  fs::create_directory(f.key);
  CHECK_THAT(f.refusal(), Catch::Contains("is not a regular file"));
  fs::remove(f.key);
  REQUIRE(mkfifo(f.key.c_str(), 0600) == 0);
  CHECK_THAT(f.refusal(), Catch::Contains("is not a regular file"));
  CHECK_THAT(f.refusal("/proc/nonexistent/vault.key"), Catch::Contains("cannot be created"));
}

TEST_CASE("another key or none with stored tokens is refused, and nothing is lost") {
  Fixture f;
  {
    auto vault = f.open();
    vault.connect(account("T1"), Secret(kToken));
  }
  const auto aside = f.scratch.path() / "aside";
  fs::rename(f.key, aside);
  CHECK_THAT(f.refusal(), Catch::Contains("is missing") && Catch::Contains("put the file back"));
  CHECK_FALSE(fs::exists(f.key));
  std::ofstream(f.key) << std::string(64, 'a') << "\n";
  chmod(f.key.c_str(), 0600);
  CHECK_THAT(f.refusal(), Catch::Contains("holds another key"));
  fs::rename(aside, f.key);
  auto vault = f.open();
  CHECK(vault.token("notes", "T1", 1)->reveal() == kToken);
}

TEST_CASE("without stored tokens a lost key is replaced") {
  Fixture f;
  {
    auto vault = f.open();
    vault.connect(account("T1"), Secret(kToken));
    vault.disconnect("notes", "T1");
  }
  fs::remove(f.key);
  {
    auto vault = f.open();
    CHECK(vault.connect(account("T1"), Secret(kToken)) == 2);
  }
  CHECK(f.open().token("notes", "T1", 2)->reveal() == kToken);
}

TEST_CASE("a row that was put in another's place, or changed, does not open") {
  for (const char* change : {"UPDATE connections SET token = (SELECT token FROM connections WHERE account_id = 'T2') "
                             "WHERE account_id = 'T1'",
                             "UPDATE connections SET generation = 2 WHERE account_id = 'T1'",
                             "UPDATE connections SET token_origin = 'https://evil.example' WHERE account_id = 'T1'",
                             "UPDATE connections SET token = x'00' WHERE account_id = 'T1'"}) {
    INFO(change);
    Fixture f;
    {
      auto vault = f.open();
      vault.connect(account("T1"), Secret(kToken));
      vault.connect(account("T2"), Secret("other"));
    }
    f.sql(change);
    auto vault = f.open();
    const auto generation = vault.connections().at(0).generation;
    CHECK_THROWS_WITH(vault.token("notes", "T1", generation),
                      "The stored token of notes T1 is damaged. Connect the account again.");
  }
}

TEST_CASE("empty and huge tokens are refused without being shown") {
  Fixture f;
  auto vault = f.open();
  CHECK_THROWS_AS(vault.connect(account("T1"), Secret("")), Error);
  CHECK_THROWS_AS(vault.connect(account("T1"), Secret(std::string(20'000, 'x'))), Error);
  CHECK_THROWS_AS(vault.connect(account(""), Secret(kToken)), Error);
  CHECK(vault.connections().empty());
}

namespace {

Credential refreshable(const std::string& access) {
  Credential c;
  c.access_token = Secret(access);
  c.refresh_token = Secret("refresh-very-secret-0123456789");
  c.client_secret = Secret("client-very-secret-0123456789");
  c.client_id = "client";
  c.token_url = "https://notes.example/token";
  return c;
}

}  // namespace

TEST_CASE("a credential is kept sealed and renewed, and a late renewal changes nothing") {
  Fixture f;
  auto given = account("T1");
  given.name = "default";
  given.profile = "read";
  given.flow = "desktop";
  given.expires_at_ms = 77;
  {
    auto vault = f.open();
    REQUIRE(vault.connect(given, refreshable(kToken)) == 1);
    CHECK(vault.connect(account("T2"), Secret("pasted")) == 1);
  }
  for (const auto& entry : fs::directory_iterator(f.data)) {
    const auto bytes = read_file(entry.path());
    for (const char* secret : {"refresh-very-secret", "client-very-secret"})
      CHECK(bytes.find(secret) == std::string::npos);
  }
  auto vault = f.open();
  const auto known = vault.connections().at(0);
  CHECK(known.name == "default");
  CHECK(known.profile == "read");
  CHECK(known.flow == "desktop");
  CHECK(known.expires_at_ms == 77);
  CHECK(known.refreshable);
  CHECK_FALSE(vault.connections().at(1).refreshable);
  CHECK(vault.token("notes", "T1", 1)->reveal() == kToken);
  CHECK(vault.credential("notes", "T2", 1)->access_token.reveal() == "pasted");
  auto held = vault.credential("notes", "T1", 1);
  CHECK(held->client_secret.reveal() == "client-very-secret-0123456789");
  held->access_token = Secret("second");
  vault.renew("notes", "T1", 1, *held, 99);
  CHECK(vault.token("notes", "T1", 1)->reveal() == "second");
  vault.rotate(Secret());
  CHECK(vault.token("notes", "T1", 1)->reveal() == "second");
  CHECK(f.open().connections().at(0).expires_at_ms == 99);
  vault.connect(given, refreshable("third"));  // the same connection with other tokens
  CHECK_THROWS_WITH(vault.renew("notes", "T1", 1, *held, 111), Catch::Contains("connected again meanwhile"));
  CHECK(vault.token("notes", "T1", 1)->reveal() == "third");
  vault.disconnect("notes", "T1");
  CHECK_THROWS_AS(vault.renew("notes", "T1", 1, *held, 111), Error);
}

TEST_CASE("what is sealed as one thing does not open as the other") {
  Fixture f;
  auto vault = f.open();
  vault.connect(account("T1"), refreshable(kToken));
  f.sql("UPDATE connections SET sealed_as = 'token'");
  CHECK_THROWS_WITH(f.open().token("notes", "T1", 1), Catch::Contains("damaged"));
}

TEST_CASE("an account's name is its own until it is disconnected") {
  Fixture f;
  auto vault = f.open();
  auto one = account("T1"), two = account("T2");
  one.name = two.name = "work";
  vault.connect(one, Secret("a"));
  CHECK_THROWS_WITH(vault.connect(two, Secret("b")), Catch::Contains("The name work belongs to another account"));
  CHECK(vault.connections().size() == 1);
  vault.connect(one, Secret("c"));
  vault.disconnect("notes", "T1");
  CHECK(vault.connect(two, Secret("b")) == 1);
}

TEST_CASE("an account's address and settings are kept with its connection") {
  Fixture f;
  auto own = account("T1");
  own.base_url = "https://one.notes.example/";
  own.settings = {{"user", "amy \"a\""}, {"region", "eu"}};
  {
    auto vault = f.open();
    vault.connect(own, Secret(kToken));
    vault.connect(account("T2"), Secret(kToken));
  }
  const auto known = f.open().connections();
  REQUIRE(known.size() == 2);
  CHECK(known[0].base_url == own.base_url);
  CHECK(known[0].settings == own.settings);
  CHECK(known[1].base_url.empty());
  CHECK(known[1].settings.empty());
}

}  // namespace KRUXOS_TEST_FILE
