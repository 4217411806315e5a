// The vault's key: passphrase, rotation, moves, and kills in the middle of them.
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <thread>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/vault/key_file.hpp"
#include "core/vault/vault.hpp"
#include "support/fault.hpp"
#include "support/fault_vfs.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

constexpr PassphraseCost kCheap{1, 8192};  // the least that Argon2id takes
const std::string kPassphrase = "correct horse battery", kOther = "another horse entirely";

struct Fixture {
  support::Scratch scratch;
  fs::path data = scratch.path() / "data", key = scratch.path() / "keys/vault.key";
  DrivenClock clock;
  std::unique_ptr<GroupCommit> store;

  Fixture() {
    fs::create_directory(data);
    open_store();
  }
  void open_store() { store = std::make_unique<GroupCommit>(data / "kruxos.db", kLedgerKind); }
  Vault open(VaultMode new_vault = VaultMode::kKeyFile) { return Vault(*store, clock, {key, data, new_vault, kCheap}); }
};

Connection account(const std::string& id) {
  Connection c;
  c.service = "notes";
  c.account_id = id;
  c.display_name = "Team";
  c.principal = "U1";
  c.token_origin = "https://notes.example";
  return c;
}

void fill(Vault& vault) {
  vault.connect(account("T1"), Secret("token one"));
  vault.connect(account("T2"), Secret("token two"));
}

bool is_whole(Vault& vault) {
  const auto one = vault.token("notes", "T1", 1), two = vault.token("notes", "T2", 1);
  return one && two && one->reveal() == "token one" && two->reveal() == "token two";
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string type_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.type().name());
  }
  return "";
}

}  // namespace

TEST_CASE("a new vault takes its passphrase at the first unlock and is locked after a restart") {
  Fixture f;
  {
    auto vault = f.open(VaultMode::kPassphrase);
    CHECK(vault.locked());
    CHECK_FALSE(vault.status().passphrase_set);
    CHECK(type_of([&] { vault.connect(account("T1"), Secret("x")); }) == "ServiceUnavailable");
    CHECK(type_of([&] { vault.unlock(Secret("short")); }) == "InvalidInput");
    CHECK(vault.locked());
    vault.unlock(Secret(kPassphrase));
    CHECK(vault.status().key_made_at_ms == f.clock.wall_ms());
    fill(vault);
    CHECK(is_whole(vault));
  }
  CHECK_FALSE(fs::exists(f.key));
  // What was chosen stays, whatever a new vault would be.
  auto vault = f.open(VaultMode::kKeyFile);
  const auto status = vault.status();
  CHECK(status.mode == VaultMode::kPassphrase);
  CHECK(status.locked);
  CHECK(status.passphrase_set);
  CHECK(status.tokens == 2);
  CHECK(status.cost == kCheap);
  CHECK(vault.connections().size() == 2);
  CHECK_FALSE(vault.token("notes", "T1", 1));
  CHECK(type_of([&] { vault.rotate(Secret(kPassphrase)); }) == "ServiceUnavailable");
  CHECK(type_of([&] { vault.set_passphrase(Secret(kPassphrase), Secret(kOther)); }) == "ServiceUnavailable");
  vault.unlock(Secret(kPassphrase));
  CHECK(is_whole(vault));
  vault.unlock(Secret("whatever"));
  CHECK(is_whole(vault));
}

TEST_CASE("after a wrong passphrase the next try waits, longer each time") {
  Fixture f;
  {
    auto vault = f.open(VaultMode::kPassphrase);
    vault.unlock(Secret(kPassphrase));
    fill(vault);
  }
  auto vault = f.open();
  std::int64_t waited = 0;
  for (const std::int64_t wait : {1000, 2000, 4000, 8000, 16'000, 32'000, 60'000, 60'000}) {
    INFO(wait);
    CHECK(type_of([&] { vault.unlock(Secret(kOther)); }) == "NotAuthenticated");
    CHECK(vault.status().next_try_ms == wait);
    f.clock.advance(wait - 1);
    CHECK(type_of([&] { vault.unlock(Secret(kPassphrase)); }) == "RateLimited");
    CHECK(vault.locked());
    f.clock.advance(1);
    waited += wait;
  }
  CHECK(waited == 183'000);
  vault.unlock(Secret(kPassphrase));
  CHECK(is_whole(vault));
  CHECK(vault.status().next_try_ms == 0);
}

TEST_CASE("a rotation makes another key, and the old one opens nothing") {
  Fixture f;
  std::string before;
  {
    auto vault = f.open();
    fill(vault);
    before = bytes_of(f.key);
    f.clock.advance(5000);
    vault.rotate(Secret());
    CHECK(is_whole(vault));
    CHECK(vault.status().key_made_at_ms == f.clock.wall_ms());
    CHECK(bytes_of(f.key) != before);
    CHECK_FALSE(fs::exists(staged_key_file(f.key)));
    struct stat info {};
    REQUIRE(stat(f.key.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(vault.connect(account("T3"), Secret("three")) == 1);
  }
  {
    auto vault = f.open();
    CHECK(is_whole(vault));
    CHECK(vault.token("notes", "T3", 1)->reveal() == "three");
  }
  std::ofstream(f.key) << before;
  CHECK_THROWS_WITH(f.open(), Catch::Contains("holds another key"));
}

TEST_CASE("from the key file to a passphrase, to another one, and back") {
  Fixture f;
  {
    auto vault = f.open();
    fill(vault);
    CHECK(type_of([&] { vault.unlock(Secret(kPassphrase)); }) == "ConflictError");
    CHECK(type_of([&] { vault.use_key_file(Secret()); }) == "ConflictError");
    vault.set_passphrase(Secret(), Secret(kPassphrase));
    CHECK(is_whole(vault));
    CHECK_FALSE(fs::exists(f.key));
  }
  {
    auto vault = f.open();
    vault.unlock(Secret(kPassphrase));
    CHECK(type_of([&] { vault.set_passphrase(Secret("no, not this"), Secret(kOther)); }) == "NotAuthenticated");
    f.clock.advance(1000);
    CHECK(type_of([&] { vault.rotate(Secret("no, not this")); }) == "NotAuthenticated");
    f.clock.advance(2000);
    vault.set_passphrase(Secret(kPassphrase), Secret(kOther));
    CHECK(is_whole(vault));
  }
  {
    auto vault = f.open();
    CHECK(type_of([&] { vault.unlock(Secret(kPassphrase)); }) == "NotAuthenticated");
    f.clock.advance(1000);
    vault.unlock(Secret(kOther));
    vault.rotate(Secret(kOther));
    CHECK(is_whole(vault));
    vault.use_key_file(Secret(kOther));
    CHECK(is_whole(vault));
  }
  auto vault = f.open(VaultMode::kPassphrase);
  CHECK(vault.status().mode == VaultMode::kKeyFile);
  CHECK(is_whole(vault));
}

TEST_CASE("a forgotten passphrase can be replaced only where no token is stored") {
  Fixture f;
  {
    auto vault = f.open(VaultMode::kPassphrase);
    vault.unlock(Secret(kPassphrase));
    fill(vault);
  }
  auto vault = f.open();
  CHECK(type_of([&] { vault.set_passphrase(Secret(), Secret(kOther)); }) == "ServiceUnavailable");
  vault.disconnect("notes", "T1");
  vault.disconnect("notes", "T2");
  CHECK_FALSE(vault.holds_token("notes", "T1"));
  vault.set_passphrase(Secret(), Secret(kOther));
  CHECK(vault.connect(account("T1"), Secret("again")) == 2);
  CHECK(vault.token("notes", "T1", 2)->reveal() == "again");
}

TEST_CASE("a change of the key that cannot be stored changes nothing, and can be made later") {
  support::FaultVfs disk;  // outlives the store, whatever fails below
  Fixture f;
  const struct Healed {
    support::FaultVfs& disk;
    ~Healed() { disk.heal(); }  // a store whose disk fails does not end
  } healed{disk};
  {
    auto vault = f.open();
    fill(vault);
    const auto before = bytes_of(f.key);
    f.store->run([](SQLite::Database& db) {
      execute(db.getHandle(),
              "CREATE TRIGGER no BEFORE UPDATE OF token ON connections WHEN NEW.account_id = 'T2' BEGIN "
              "SELECT RAISE(ABORT, 'no'); END");
    });
    CHECK(type_of([&] { vault.rotate(Secret()); }) == "DatabaseError");
    CHECK(is_whole(vault));
    CHECK(bytes_of(f.key) == before);
    f.store->run([](SQLite::Database& db) { execute(db.getHandle(), "DROP TRIGGER no"); });
    // A COMMIT whose outcome nobody was told of.
    disk.fail_syncs(SQLITE_IOERR_FSYNC, "-wal");
    const auto told = type_of([&] { vault.rotate(Secret()); });
    CHECK((told.empty() || told == "DatabaseError"));
    disk.heal();
    CHECK(is_whole(vault));
    while (f.store->failing()) std::this_thread::yield();
    CHECK(vault.connect(account("T3"), Secret("three")) == 1);
    vault.rotate(Secret());
    CHECK(is_whole(vault));
    CHECK(vault.token("notes", "T3", 1)->reveal() == "three");
    CHECK_FALSE(fs::exists(staged_key_file(f.key)));
  }
  {
    auto vault = f.open();
    CHECK(is_whole(vault));
  }
}

namespace {

using Change = void (*)(Vault&);

/// Makes the change in a process that kills itself at the point; whether it did.
bool killed(const Fixture& f, const std::string& point, Change change) {
  const pid_t child = fork();
  if (child == 0) {
    support::arm_fault(point);
    DrivenClock clock;
    GroupCommit store(f.data / "kruxos.db", kLedgerKind);
    Vault vault(store, clock, {f.key, f.data, VaultMode::kKeyFile, kCheap});
    if (vault.locked()) vault.unlock(Secret(kPassphrase));
    change(vault);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

TEST_CASE("a vault opens after a kill at any moment of a change of its key") {
  const std::string point = GENERATE("vault.rekey.file.staged", "vault.rekey.before_commit", "vault.rekey.after_commit",
                                     "vault.rekey.file.adopted");
  const std::string how = GENERATE("rotate", "passphrase", "another", "back");
  CAPTURE(point, how);
  const bool begins_with_file = how == "rotate" || how == "passphrase";
  const bool ends_with_file = how == "rotate" || how == "back";
  if (how == "another" && point == "vault.rekey.file.adopted") return;  // no file is touched
  Fixture f;
  {
    auto vault = f.open(begins_with_file ? VaultMode::kKeyFile : VaultMode::kPassphrase);
    if (!begins_with_file) vault.unlock(Secret(kPassphrase));
    fill(vault);
  }
  f.store.reset();
  const std::map<std::string, Change> changes{
      {"rotate", [](Vault& vault) { vault.rotate(Secret()); }},
      {"passphrase", [](Vault& vault) { vault.set_passphrase(Secret(), Secret(kOther)); }},
      {"another", [](Vault& vault) { vault.set_passphrase(Secret(kPassphrase), Secret(kOther)); }},
      {"back", [](Vault& vault) { vault.use_key_file(Secret(kPassphrase)); }}};
  REQUIRE(killed(f, point, changes.at(how)));
  f.open_store();
  const bool changed = point == "vault.rekey.after_commit" || point == "vault.rekey.file.adopted";
  auto vault = f.open();
  const bool has_file = changed ? ends_with_file : begins_with_file;
  CHECK(vault.status().mode == (has_file ? VaultMode::kKeyFile : VaultMode::kPassphrase));
  if (!has_file) vault.unlock(Secret(changed ? kOther : kPassphrase));
  CHECK(is_whole(vault));
  CHECK(fs::exists(f.key) == has_file);
  // What was begun can be made now.
  vault.rotate(Secret(changed ? kOther : kPassphrase));
  CHECK(is_whole(vault));
  CHECK_FALSE(fs::exists(staged_key_file(f.key)));
}

TEST_CASE("a key file that somebody else put there is left alone") {
  Fixture f;
  {
    auto vault = f.open(VaultMode::kPassphrase);
    vault.unlock(Secret(kPassphrase));
    fill(vault);
  }
  create_key_file(f.key);
  const auto theirs = bytes_of(f.key);
  {
    auto vault = f.open();
    CHECK(vault.locked());
  }
  CHECK(bytes_of(f.key) == theirs);
}

TEST_CASE("parameters that nothing here has made are refused") {
  Fixture f;
  {
    auto vault = f.open(VaultMode::kPassphrase);
    vault.unlock(Secret(kPassphrase));
    fill(vault);
  }
  for (const char* change : {"salt = x'00'", "passes = 0", "memory_bytes = 1", "memory_bytes = 1 << 60", "salt = NULL",
                             "passes = NULL", "passes = -1"}) {
    INFO(change);
    f.store->run([&](SQLite::Database& db) {
      execute(db.getHandle(), "CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM vault_key");
      execute(db.getHandle(), std::string("UPDATE vault_key SET ") + change);
    });
    auto vault = f.open();
    CHECK(type_of([&] { vault.unlock(Secret(kPassphrase)); }) == "DatabaseError");
    CHECK(vault.locked());
    f.store->run([](SQLite::Database& db) {
      execute(db.getHandle(), "DELETE FROM vault_key; INSERT INTO vault_key SELECT * FROM kept");
    });
  }
  auto vault = f.open();
  vault.unlock(Secret(kPassphrase));
  CHECK(is_whole(vault));
}

}  // namespace KRUXOS_TEST_FILE
