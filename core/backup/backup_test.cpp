// Backups and restores of a data directory, also cut short.
#include "core/backup/backup.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "core/audit/audit_log.hpp"
#include "core/audit/verify.hpp"
#include "core/oauth/pkce.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/storage/data_directory.hpp"
#include "core/util/error.hpp"
#include "core/write/ledger_fixture.hpp"
#include "core/write/place.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct BackupFixture {
  support::Scratch scratch;
  DrivenClock clock;
  fs::path data = scratch.path() / "data", target = scratch.path() / "backups" / "monday",
           restored = scratch.path() / "restored", bundles = data / "bundles";

  BackupFixture() {
    fs::create_directories(data / "uploads");
    fs::create_directories(scratch.path() / "backups");
    ::chmod(data.c_str(), 0700);
    std::ofstream(data / "bundles.json") << "{}";
  }
  /// One write that waits and one upload.
  void fill() {
    GroupCommit store(data / "kruxos.db", kLedgerKind);
    Ledger ledger(store, clock, "boot-1");
    Answer<Submitted> answer;
    ledger.submit(new_write("waits"), answer.slot());
    id = answer.value().write.write_id;
    store.run([](SQLite::Database& db) {
      db.exec("INSERT INTO uploads VALUES ('up_1', 'agent_1', 'a.txt', 'text/plain', 5, 'x', 1, 2)");
    });
    std::ofstream(data / "uploads" / "up_1") << "hello";
    std::ofstream(data / "uploads" / "stray") << "nobody's";
  }
  BackupManifest back_up(CopyStop stop = {}) {
    return make_backup(
        {data, bundles, target, "1.0", clock.wall_ms(), true, std::move(stop), [this](const fs::path& directory) {
           CHECK(fs::exists(directory / "bundles.json"));
           return pinned;
         }});
  }
  void restore() { restore_backup({target, restored, {}}); }
  std::string refusal_of_restore() {
    try {
      restore();
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }
  /// A start on the restored directory: why it is a copy.
  std::string start() {
    GroupCommit store(restored / "kruxos.db", kLedgerKind);
    const Place place(store, clock, restored, {scratch.path() / "places", false, "boot-1", "m", {}});
    Ledger ledger(store, clock, "boot-1");
    const auto write = ledger.get(id);
    held = write && write->held_as_copy;
    return place.copy_reason();
  }
  std::vector<std::string> pinned;
  std::string id;
  bool held = false;
};

}  // namespace

TEST_CASE("a backup is whole, checked and private, and starts held when it was restored") {
  BackupFixture f;
  f.fill();
  const auto made = f.back_up();
  std::vector<std::string> names;
  for (const auto& file : made.files) names.push_back(file.name);
  CHECK(names == std::vector<std::string>{"kruxos.db", "uploads/up_1", "bundles.json"});
  struct stat info {};
  for (const char* name : {"", "kruxos.db", "uploads/up_1", "backup.json"}) {
    REQUIRE(::stat((f.target / name).c_str(), &info) == 0);
    CHECK((info.st_mode & 077) == 0);
  }
  CHECK_FALSE(fs::exists(f.target / "kruxos.db-wal"));
  CHECK(std::distance(fs::directory_iterator(f.target.parent_path()), {}) == 1);

  f.restore();
  CHECK(bytes_of(f.restored / "uploads" / "up_1") == "hello");
  CHECK_THAT(f.start(), Catch::Contains("was restored from a backup of 2"));
  CHECK(f.held);
  CHECK(f.start().empty());
  CHECK(f.held);
}

TEST_CASE("a backup has the audit log, which goes on where it is restored") {
  BackupFixture f;
  f.fill();
  const auto chain = [&f](const fs::path& directory) {
    GroupCommit store(directory / "kruxos.db", kLedgerKind);
    AuditLog log(store, f.clock, {directory / "audit.db"});
    return log.flush();
  };
  REQUIRE(chain(f.data));
  f.back_up();
  f.restore();
  CHECK_FALSE(f.start().empty());
  REQUIRE(chain(f.restored));
  const auto before = verify_audit(f.data / "audit.db"), after = verify_audit(f.restored / "audit.db");
  CHECK(before.rows == 2);  // its beginning, and the write's admission
  CHECK(after.rows == 3);   // and that it is held
  CHECK(after.log_id == before.log_id);
  CHECK(after.whole());
}

TEST_CASE("a backup has who has signed in, and who waits to", "[backup]") {
  BackupFixture f;
  f.fill();
  const std::string verifier(43, 'v'), resource = "https://kruxos.example/mcp";
  const SignInAsk ask{{"https://client.example/c", {"A client", {"https://client.example/back"}}},
                      "https://client.example/back",
                      std::nullopt,
                      challenge_of(verifier),
                      resource,
                      "192.0.2.7"};
  SignInTokens tokens;
  std::string waiting, client_id;
  {
    GroupCommit store(f.data / "kruxos.db", kLedgerKind);
    SignInStore sign_in(store, f.clock);
    client_id = sign_in.register_client(ask.client.metadata).client_id;
    const auto begun = sign_in.begin(ask);
    sign_in.accept(begun.request.code, "agent_1", "operator:me");
    tokens = sign_in.exchange(
        {SignInStore::authorization_code(begun.handle), ask.client.client_id, verifier, std::nullopt, resource});
    waiting = sign_in.begin(ask).handle;
  }
  f.back_up();
  f.restore();
  GroupCommit store(f.restored / "kruxos.db", kLedgerKind);
  SignInStore sign_in(store, f.clock);
  CHECK(sign_in.authenticate(tokens.access_token, resource).has_value());
  CHECK(sign_in.client(client_id));
  CHECK(sign_in.load_page(waiting));
  CHECK_NOTHROW(sign_in.refresh({tokens.refresh_token, ask.client.client_id, resource}));
}

TEST_CASE("a backup has the bundles wherever they lie, and a restore puts them below the data directory") {
  BackupFixture f;
  f.fill();
  const bool elsewhere = GENERATE(true, false);
  if (elsewhere) f.bundles = f.scratch.path() / "elsewhere";
  fs::create_directories(f.bundles / "notes-1");
  std::ofstream(f.bundles / "notes-1" / "notes.so") << "library";
  f.pinned = {"notes-1/notes.so"};
  CHECK(f.back_up().bundles_dir == (elsewhere ? f.bundles.string() : ""));
  CHECK(restore_backup({f.target, f.restored, {}}).bundles_dir == (elsewhere ? f.bundles.string() : ""));
  CHECK(bytes_of(f.restored / "bundles" / "notes-1" / "notes.so") == "library");
}

TEST_CASE("a backup takes nothing of the bundles' directory but what is pinned") {
  BackupFixture f;
  f.fill();
  f.bundles = f.scratch.path() / "shared";
  fs::create_directories(f.bundles / "notes-1");
  fs::rename(f.data, f.bundles / "data");
  f.data = f.bundles / "data";
  std::ofstream(f.bundles / "vault.key") << "key";
  std::ofstream(f.bundles / "notes-1" / "vault.key") << "key";
  std::ofstream(f.bundles / "notes-1" / "notes.so") << "library";
  f.pinned = {"notes-1/notes.so", "notes-1/missing"};
  std::vector<std::string> names;
  for (const auto& file : f.back_up().files) names.push_back(file.name);
  CHECK(names == std::vector<std::string>{"kruxos.db", "uploads/up_1", "bundles.json", "bundles/notes-1/notes.so"});
}

TEST_CASE("a backup that cannot read a directory is none") {
  BackupFixture f;
  f.fill();
  f.pinned = {"notes-1/notes.so"};
  SECTION("of the bundles") {
    std::ofstream(f.bundles) << "no directory";
  }
  SECTION("of the replicas") {
    std::ofstream(f.data / "replica") << "no directory";
  }
  CHECK_THROWS_WITH(f.back_up(), Catch::Contains("cannot be read: Not a directory. No backup was made"));
  CHECK(fs::is_empty(f.target.parent_path()));
}

TEST_CASE("a backup that is made under load is the ledger of one moment") {
  BackupFixture f;
  f.fill();
  GroupCommit store(f.data / "kruxos.db", kLedgerKind);
  Ledger ledger(store, f.clock, "boot-1");
  std::atomic<bool> enough{false};
  std::vector<std::string> ids;
  std::thread agent([&] {
    for (int i = 0; !enough; ++i) {
      Answer<Submitted> answer;
      ledger.submit(new_write("load " + std::to_string(i)), answer.slot());
      ids.push_back(answer.value().write.write_id);
    }
  });
  f.back_up();
  enough = true;
  agent.join();
  GroupCommit copy(f.target / "kruxos.db", kLedgerKind);
  Ledger then(copy, f.clock, "boot-1");
  std::int64_t there = 0;
  bool gap = false;
  for (const auto& id : ids) {
    const bool has = then.get(id).has_value();
    CHECK_FALSE((has && gap));
    gap = gap || !has;
    there += has;
  }
  CHECK(then.counts().buffered == there + 1);
}

TEST_CASE("a backup's files put into a place by hand start held too") {
  BackupFixture f;
  f.fill();
  f.back_up();
  fs::copy(f.target, f.restored, fs::copy_options::recursive);
  CHECK_THAT(f.start(), Catch::Contains("was restored from a backup"));
  CHECK(f.held);
}

TEST_CASE("a backup replaces nothing and lies outside of what it copies") {
  BackupFixture f;
  f.fill();
  f.back_up();
  CHECK_THROWS_WITH(f.back_up(), Catch::Contains("exists already"));
  f.target = f.data / "backup";
  CHECK_THROWS_WITH(f.back_up(), Catch::Contains("lies inside the data directory"));
  f.bundles = f.scratch.path() / "elsewhere";
  f.target = f.bundles / "backup";
  CHECK_THROWS_WITH(f.back_up(), Catch::Contains("lies inside the bundles directory"));
  f.target = f.scratch.path() / "nowhere" / "backup";
  CHECK_THROWS_WITH(f.back_up(), Catch::Contains("There is no directory"));
  f.target = "relative";
  CHECK_THROWS_WITH(f.back_up(), Catch::Contains("is no place for a backup"));
}

TEST_CASE("a backup that is stopped or fails leaves nothing behind") {
  BackupFixture f;
  f.fill();
  CHECK_THROWS_WITH(f.back_up([] { return true; }), Catch::Contains("The host stops"));
  CHECK(fs::is_empty(f.target.parent_path()));
}

TEST_CASE("a restore goes into an empty directory that no host uses") {
  BackupFixture f;
  f.fill();
  f.back_up();
  SECTION("not empty") {
    fs::create_directory(f.restored);
    ::chmod(f.restored.c_str(), 0700);
    std::ofstream(f.restored / "notes.txt") << "mine";
    CHECK_THAT(f.refusal_of_restore(), Catch::Contains("is not empty (notes.txt is there)"));
    CHECK(bytes_of(f.restored / "notes.txt") == "mine");
  }
  SECTION("in use") {
    const DataDirectory used(f.restored);
    CHECK_THAT(f.refusal_of_restore(), Catch::Contains("Another kruxosd"));
  }
  SECTION("no backup") {
    f.target = f.data;
    CHECK_THAT(f.refusal_of_restore(), Catch::Contains("is no backup"));
  }
  SECTION("a name that leads elsewhere") {
    auto manifest = bytes_of(f.target / "backup.json");
    const auto at = manifest.find("uploads/up_1");
    std::ofstream(f.target / "backup.json") << manifest.replace(at, 12, "../elsewhere");
    CHECK_THAT(f.refusal_of_restore(), Catch::Contains("cannot be one of its own"));
  }
}

TEST_CASE("a backup whose files have changed is not restored, and the directory stays empty") {
  BackupFixture f;
  f.fill();
  f.back_up();
  const auto file = GENERATE("kruxos.db", "uploads/up_1");
  std::ofstream(f.target / file, std::ios::app) << "x";
  CHECK_THAT(f.refusal_of_restore(), Catch::Contains("is not what it was when the backup was made"));
  CHECK_FALSE(fs::exists(f.restored / "kruxos.db"));
  CHECK(without_unfinished_restore(f.restored) == f.restored);
  fs::remove_all(f.target);
  f.back_up();
  f.restore();
  CHECK_FALSE(f.start().empty());
}

TEST_CASE("a restore that is killed cannot be started and can be repeated") {
  BackupFixture f;
  f.fill();
  f.back_up();
  const auto point = GENERATE("restore.marker.written", "restore.file.copied", "restore.ledger.copied");
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    support::arm_fault(point);
    f.restore();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK_THROWS_WITH(without_unfinished_restore(f.restored), Catch::Contains("was cut short"));
  CHECK_FALSE(fs::exists(f.restored / "kruxos.db"));
  f.restore();
  CHECK(without_unfinished_restore(f.restored) == f.restored);
  CHECK_THAT(f.start(), Catch::Contains("was restored from a backup"));
  CHECK(f.held);
}

TEST_CASE("a backup that is killed leaves nothing under its name, and can be made again") {
  BackupFixture f;
  f.fill();
  const auto point = GENERATE("backup.ledger.copied", "backup.files.durable");
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    support::arm_fault(point);
    f.back_up();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK_FALSE(fs::exists(f.target));
  f.back_up();
  f.restore();
  CHECK_FALSE(f.start().empty());
}

}  // namespace KRUXOS_TEST_FILE
