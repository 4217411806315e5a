#include "core/storage/database.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>

#include "core/storage/migrations.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "support/fault_vfs.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using krux::DatabaseKind;
using krux::Migration;
using krux::open_database;
using support::Scratch;

namespace {

constexpr std::array<Migration, 2> kTwo{
    {{1, "001-a", "CREATE TABLE a(x);"}, {2, "002-b", "CREATE TABLE b(y); INSERT INTO b VALUES (7);"}}};
constexpr std::array<Migration, 1> kOne{{{1, "001-a", "CREATE TABLE a(x);"}}};
constexpr std::array<Migration, 2> kBroken{
    {{1, "001-a", "CREATE TABLE a(x);"}, {2, "002-b", "CREATE TABLE b(y); CREATE TABLE a(x);"}}};
const DatabaseKind kKind{"the test", 0x1234, kTwo, true};
const DatabaseKind kOlder{"the test", 0x1234, kOne, true};
const DatabaseKind kOther{"something else", 0x4321, kOne, true};

std::string bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal(const std::filesystem::path& file, const DatabaseKind& kind) {
  try {
    open_database(file, kind);
  } catch (const krux::Error& e) {
    CHECK(e.type() == krux::ErrorCode::kDatabaseError);
    return e.what();
  }
  return {};
}

std::int64_t number(SQLite::Database& db, const char* sql) {
  return db.execAndGet(sql).getInt64();
}

}  // namespace

TEST_CASE("a new database gets its kind, its version and safe settings") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  auto db = open_database(file, kKind);
  CHECK(number(*db, "PRAGMA application_id") == 0x1234);
  CHECK(number(*db, "PRAGMA user_version") == 2);
  CHECK(number(*db, "SELECT y FROM b") == 7);
  CHECK(db->execAndGet("PRAGMA journal_mode").getString() == "wal");
  CHECK(number(*db, "PRAGMA synchronous") == 2);
  CHECK(number(*db, "PRAGMA foreign_keys") == 1);
  struct stat info {};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("an older database is migrated and keeps what it holds") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  open_database(file, kOlder)->exec("INSERT INTO a VALUES (5)");
  auto db = open_database(file, kKind);
  CHECK(number(*db, "SELECT x FROM a") == 5);
  CHECK(number(*db, "SELECT y FROM b") == 7);
  db.reset();
  CHECK(number(*open_database(file, kKind), "SELECT count(*) FROM b") == 1);
}

TEST_CASE("a migration that fails leaves the version before it") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  const DatabaseKind broken{"the test", 0x1234, kBroken, true};
  CHECK_THROWS_AS(open_database(file, broken), krux::Error);
  auto db = open_database(file, kOlder);
  CHECK(number(*db, "PRAGMA user_version") == 1);
  CHECK(number(*db, "SELECT count(*) FROM sqlite_master WHERE name = 'b'") == 0);
}

TEST_CASE("a newer database is refused and not changed") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  open_database(file, kKind);
  const auto before = bytes(file);
  CHECK_THAT(refusal(file, kOlder),
             Catch::Contains("newer version of this program (its schema is 2, this one knows 1)"));
  CHECK(bytes(file) == before);
}

TEST_CASE("a newer database whose log was left behind by a kill is not even checkpointed") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db", copy = scratch.path() / "copy.db";
  auto db = open_database(file, kKind);
  db->exec("INSERT INTO a VALUES (1)");
  std::filesystem::copy_file(file, copy);
  std::filesystem::copy_file(file.string() + "-wal", copy.string() + "-wal");
  const auto before = bytes(copy), log = bytes(copy.string() + "-wal");
  REQUIRE_FALSE(log.empty());
  CHECK_THAT(refusal(copy, kOlder), Catch::Contains("newer version"));
  CHECK(bytes(copy) == before);
  CHECK(bytes(copy.string() + "-wal") == log);
}

TEST_CASE("files that are something else are refused, each with its sentence, and not changed") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  SECTION("another kind") {
    open_database(file, kOther);
    CHECK_THAT(refusal(file, kKind), Catch::Contains("a database of another kind, not the test"));
  }
  SECTION("a foreign SQLite database") {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE t(x)");
    CHECK_THAT(refusal(file, kKind), Catch::Contains("another kind"));
  }
  SECTION("no database at all") {
    std::ofstream(file) << std::string(5000, 'n');
    const auto before = bytes(file);
    CHECK_THAT(refusal(file, kKind), Catch::Contains("is not a database"));
    CHECK(bytes(file) == before);
  }
  SECTION("damaged") {
    {
      auto db = open_database(file, kKind);
      db->exec(
          "CREATE INDEX ax ON a(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) "
          "INSERT INTO a SELECT hex(randomblob(20)) FROM n");
    }
    auto content = bytes(file);
    for (std::size_t i = content.size() / 2; i < content.size() / 2 + 9000; ++i) content[i] = '\x55';
    std::ofstream(file, std::ios::binary) << content;
    CHECK_THAT(refusal(file, kKind), Catch::Contains("is damaged"));
  }
  SECTION("cut off") {
    {
      auto db = open_database(file, kKind);
      db->exec("INSERT INTO a SELECT randomblob(100000)");
    }
    std::filesystem::resize_file(file, 8192);
    CHECK_THAT(refusal(file, kKind), Catch::Contains("is damaged"));
  }
  SECTION("a directory") {
    std::filesystem::create_directory(file);
    CHECK_THAT(refusal(file, kKind), Catch::Contains("could not be opened"));
  }
  SECTION("in no directory") {
    CHECK_THAT(refusal(file / "x.db", kKind), Catch::Contains("could not be opened"));
  }
}

TEST_CASE("a full or failing disk at opening is a clear error") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  support::FaultVfs disk;
  disk.fail_writes(SQLITE_FULL);
  CHECK_THAT(refusal(file, kKind), Catch::Contains("The disk is full") && Catch::Contains(file.string()));
  disk.fail_writes(SQLITE_IOERR_WRITE);
  CHECK_THAT(refusal(file, kKind), Catch::Contains("could not be read or written"));
  disk.fail_writes(SQLITE_READONLY);
  CHECK_THAT(refusal(file, kKind), Catch::Contains("can only be read"));
  disk.heal();
  CHECK(refusal(file, kKind).empty());
}

TEST_CASE("a reader reads and cannot write") {
  Scratch scratch;
  const auto file = scratch.path() / "k.db";
  auto db = open_database(file, kKind);
  auto reader = krux::open_reader(file, kKind);
  CHECK(number(*reader, "SELECT y FROM b") == 7);
  CHECK_THROWS(reader->exec("INSERT INTO a VALUES (1)"));
  CHECK_THROWS_AS(krux::open_reader(file, kOther), krux::Error);
}

TEST_CASE("compiled-in migrations apply") {
  Scratch scratch;
  CHECK(refusal(scratch.path() / "ledger.db", krux::kLedgerKind).empty());
  CHECK(refusal(scratch.path() / "replica.db", krux::kReplicaKind).empty());
  CHECK_FALSE(refusal(scratch.path() / "ledger.db", krux::kReplicaKind).empty());
}

}  // namespace KRUXOS_TEST_FILE
