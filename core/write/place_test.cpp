// By what a start knows that its data directory has become another one.
#include "core/write/place.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "core/util/error.hpp"
#include "core/write/ledger_fixture.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

namespace fs = std::filesystem;

struct PlaceFixture {
  support::Scratch scratch;
  DrivenClock clock;
  fs::path data = scratch.path() / "data", places = scratch.path() / "state" / "places";
  std::string machine = "machine-1", boot = "boot-1";

  PlaceFixture() { fs::create_directory(data); }

  /// A start: why it is taken for a copy, empty when it is not. One write waits after the first.
  std::string start(bool held = false) {
    GroupCommit store(data / "kruxos.db", kLedgerKind);
    Place place(store, clock, data, {places, held, boot, machine, {}});
    Ledger ledger(store, clock, boot);
    if (ledger.list({}).empty()) {
      Answer<Submitted> answer;
      ledger.submit(new_write("waits"), answer.slot());
      answer.value();
    }
    held_as_copy = ledger.counts().held_as_copy;
    place.advance();
    return place.copy_reason();
  }
  fs::path copy_of_data(const std::string& name = "copy") {
    const auto to = scratch.path() / name;
    fs::copy(data, to, fs::copy_options::recursive);
    return to;
  }
  fs::path record() {
    for (const auto& entry : fs::directory_iterator(places)) {
      if (entry.path().extension() != ".lock") return entry.path();
    }
    throw std::runtime_error("there is no record");
  }
  std::int64_t held_as_copy = 0;
};

/// A start in a process that is killed at the point.
void start_killed(PlaceFixture& f, const std::string& point) {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    support::arm_fault(point);
    f.start();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

/// Puts a file's content into another one, which stays the same file.
void overwrite(const fs::path& file, const fs::path& by) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << std::ifstream(by, std::ios::binary).rdbuf();
}

}  // namespace

TEST_CASE("a data directory that stays where it is is never taken for a copy") {
  PlaceFixture f;
  for (int i = 0; i < 3; ++i) CHECK(f.start().empty());
  f.boot = "boot-2";
  CHECK(f.start().empty());
  // Renamed, it is the same directory with the same file.
  fs::rename(f.data, f.scratch.path() / "moved");
  f.data = f.scratch.path() / "moved";
  CHECK(f.start().empty());
  CHECK(f.held_as_copy == 0);
}

TEST_CASE("a copied data directory holds what waits, and so does its original afterwards") {
  PlaceFixture f;
  f.start();
  const auto original = f.data;
  f.data = f.copy_of_data();
  CHECK_THAT(f.start(), Catch::Contains("holds another file kruxos.db"));
  CHECK(f.held_as_copy == 1);
  CHECK(f.start().empty());
  CHECK(f.held_as_copy == 1);
  f.data = original;
  CHECK_THAT(f.start(), Catch::Contains("older than the counter"));
  CHECK(f.held_as_copy == 1);
}

TEST_CASE("another machine, and it alone, makes a copy") {
  PlaceFixture f;
  f.start();
  f.machine = "machine-2";
  CHECK_THAT(f.start(), Catch::Contains("another machine"));
  CHECK(f.held_as_copy == 1);
  CHECK(f.start().empty());
}

TEST_CASE("an older database in the very same file is behind the counter") {
  PlaceFixture f;
  f.start();
  const auto copy = f.copy_of_data();
  CHECK(f.start().empty());
  fs::remove(f.data / "kruxos.db-wal");
  overwrite(f.data / "kruxos.db", copy / "kruxos.db");
  CHECK_THAT(f.start(), Catch::Contains("older than the counter"));
  CHECK(f.held_as_copy == 1);
}

TEST_CASE("a ledger that went on elsewhere is ahead of the counter") {
  PlaceFixture f;
  f.start();
  const auto before = f.scratch.path() / "before";
  fs::copy_file(f.record(), before);
  CHECK(f.start().empty());
  overwrite(f.record(), before);
  CHECK_THAT(f.start(), Catch::Contains("newer than the counter"));
}

TEST_CASE("a counter that is gone, a database of another directory and --held make copies") {
  PlaceFixture f;
  f.start();
  SECTION("no counter") {
    fs::remove(f.record());
    CHECK_THAT(f.start(), Catch::Contains("has no counter at"));
  }
  SECTION("identity of another one") {
    write_identity(f.data, "another");
    CHECK_THAT(f.start(), Catch::Contains("holds the database of another one"));
  }
  SECTION("no identity") {
    fs::remove(f.data / "identity");
    CHECK_THAT(f.start(), Catch::Contains("has lost its file identity"));
  }
  SECTION("replaced by a file with the same content") {
    fs::copy_file(f.data / "kruxos.db", f.scratch.path() / "new");
    fs::rename(f.scratch.path() / "new", f.data / "kruxos.db");
    CHECK_THAT(f.start(), Catch::Contains("holds another file kruxos.db"));
  }
  SECTION("--held") {
    CHECK_THAT(f.start(true), Catch::Contains("--held"));
  }
  CHECK(f.held_as_copy == 1);
  CHECK(f.start().empty());
  CHECK(f.held_as_copy == 1);
}

TEST_CASE("a data directory from before places were noted is no copy and gets an identity") {
  PlaceFixture f;
  f.start();
  {
    GroupCommit store(f.data / "kruxos.db", kLedgerKind);
    store.run([](SQLite::Database& db) { db.exec("DELETE FROM place"); });
  }
  fs::remove(f.data / "identity");
  CHECK(f.start().empty());
  CHECK(f.held_as_copy == 0);
  CHECK(read_identity(f.data).size() == 32);
  CHECK(f.start().empty());
}

TEST_CASE("two copies of one ledger never run at once") {
  PlaceFixture f;
  f.start();
  const auto copy = f.copy_of_data();
  GroupCommit store(f.data / "kruxos.db", kLedgerKind);
  const Place running(store, f.clock, f.data, {f.places, false, f.boot, f.machine, {}});
  f.data = copy;
  CHECK_THROWS_WITH(f.start(), Catch::Contains("never run at once") && Catch::Contains("pid "));
}

TEST_CASE("the counter goes on once a minute while something is taken") {
  PlaceFixture f;
  GroupCommit store(f.data / "kruxos.db", kLedgerKind);
  Place place(store, f.clock, f.data, {f.places, false, f.boot, f.machine, {}});
  const auto counter = [&] {
    std::string word;
    std::int64_t n = 0;
    std::ifstream(f.record()) >> word >> n;
    return n;
  };
  CHECK(counter() == 1);
  place.advance_in_time();
  CHECK(counter() == 1);
  f.clock.advance(60'000);
  place.advance_in_time();
  place.advance_in_time();
  CHECK(counter() == 2);
}

TEST_CASE("places_dir inside the data directory, or one that cannot be made, is refused with what to do") {
  PlaceFixture f;
  f.places = f.data / "places";
  CHECK_THROWS_WITH(f.start(), Catch::Contains("lies inside the data directory"));
  std::ofstream(f.scratch.path() / "file") << "x";
  f.places = f.scratch.path() / "file" / "places";
  CHECK_THROWS_WITH(f.start(), Catch::Contains("Set places_dir to a directory"));
}

TEST_CASE("file systems are compared by their device within a boot and by their id beyond") {
  const PlaceMarks before{"m", "boot-1", 7, 70, 1, 2};
  CHECK(difference(before, before).empty());
  CHECK_FALSE(difference(before, {"m", "boot-1", 8, 70, 1, 2}).empty());
  CHECK(difference(before, {"m", "boot-2", 8, 70, 1, 2}).empty());
  CHECK_FALSE(difference(before, {"m", "boot-2", 8, 71, 1, 2}).empty());
  CHECK_FALSE(difference(before, {"m", "boot-1", 7, 70, 1, 3}).empty());
}

TEST_CASE("a start that is killed at any step makes no copy of what is none, and holds what a copy holds") {
  const std::string point = GENERATE("place.begin.before_commit", "place.begin.after_commit", "place.counter.written",
                                     "place.advance.announced", "place.advance.written");
  CAPTURE(point);
  PlaceFixture f;
  SECTION("the very first start") {
    start_killed(f, point);
    CHECK(f.start().empty());
  }
  SECTION("a later one, twice") {
    f.start();
    start_killed(f, point);
    start_killed(f, point);
    CHECK(f.start().empty());
    CHECK(f.held_as_copy == 0);
  }
  SECTION("one on a copy") {
    f.start();
    f.data = f.copy_of_data();
    start_killed(f, point);
    f.start();
    CHECK(f.held_as_copy == 1);
    CHECK(f.start().empty());
    CHECK(f.held_as_copy == 1);
  }
}

}  // namespace KRUXOS_TEST_FILE
