#include "core/storage/group_commit.hpp"

#include <sqlite3.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "core/util/error.hpp"
#include "support/fault_vfs.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using krux::GroupCommit;
using support::FaultVfs;
using support::Scratch;

namespace {

constexpr std::array<krux::Migration, 1> kTables{
    {{1, "001-t", "CREATE TABLE t(x INTEGER PRIMARY KEY); CREATE TABLE big(b);"}}};
const krux::DatabaseKind kKind{"the test", 0x77, kTables, true};

/// Holds the writer's thread, so that what is posted meanwhile becomes one group.
class Gate {
 public:
  explicit Gate(GroupCommit& store) {
    auto entered = entered_.get_future();
    store.post(
        [this](SQLite::Database&) {
          if (!std::exchange(used_, true)) entered_.set_value();
          opened_.wait();
        },
        [this](std::exception_ptr) { done_.set_value(); });
    entered.wait();
  }
  void open() {
    open_.set_value();
    done_.get_future().wait();
  }

 private:
  bool used_ = false;
  std::promise<void> entered_, open_, done_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

std::future<std::string> put(GroupCommit& store, std::int64_t x) {
  auto promise = std::make_shared<std::promise<std::string>>();
  store.post([x](SQLite::Database& db) { db.exec("INSERT INTO t VALUES (" + std::to_string(x) + ")"); },
             [promise](std::exception_ptr error) {
               try {
                 if (error) std::rethrow_exception(error);
                 promise->set_value("");
               } catch (const std::exception& e) {
                 promise->set_value(e.what());
               }
             });
  return promise->get_future();
}

std::vector<std::int64_t> stored(const std::filesystem::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  std::vector<std::int64_t> rows;
  for (SQLite::Statement s(db, "SELECT x FROM t ORDER BY x"); s.executeStep();)
    rows.push_back(s.getColumn(0).getInt64());
  return rows;
}

using Rows = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("an operation's value comes back once it is durable") {
  Scratch scratch;
  GroupCommit store(scratch.path() / "g.db", kKind);
  CHECK(store.run([](SQLite::Database& db) { return db.exec("INSERT INTO t VALUES (1)"); }) == 1);
  store.run([](SQLite::Database& db) { db.exec("INSERT INTO t VALUES (2)"); });
  CHECK(stored(store.file()) == Rows{1, 2});
  CHECK_FALSE(store.failing());
}

TEST_CASE("a thread that may wait commits by itself where the store is idle, and leaves it to the writer where not") {
  Scratch scratch;
  const auto file = scratch.path() / "g.db";
  GroupCommit store(file, kKind);
  const auto post = [&](std::int64_t x, GroupCommit::Thread thread) {
    auto by = std::make_shared<std::promise<std::thread::id>>();
    store.post([x](SQLite::Database& db) { db.exec("INSERT INTO t VALUES (" + std::to_string(x) + ")"); },
               [by](std::exception_ptr) { by->set_value(std::this_thread::get_id()); },
               GroupCommit::Outlasts::kPowerCut, thread);
    return by->get_future();
  };
  auto idle = post(1, GroupCommit::Thread::kCallers);
  REQUIRE(idle.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  CHECK(idle.get() == std::this_thread::get_id());
  CHECK(stored(file) == Rows{1});
  Gate gate(store);
  auto beside = post(2, GroupCommit::Thread::kCallers);
  gate.open();
  CHECK(beside.get() != std::this_thread::get_id());
  CHECK(post(3, GroupCommit::Thread::kWriters).get() != std::this_thread::get_id());
  CHECK(stored(file) == Rows{1, 2, 3});
}

TEST_CASE("nothing is accepted into a file that was moved away, and the file goes on where it is put back") {
  Scratch scratch;
  const auto file = scratch.path() / "g.db", away = scratch.path() / "away.db";
  GroupCommit store(file, kKind);
  REQUIRE(put(store, 1).get().empty());
  std::filesystem::rename(file, away);
  CHECK(store.failing());
  CHECK_THAT(put(store, 2).get(), Catch::Contains("was deleted or moved"));
  CHECK_FALSE(std::filesystem::exists(file));
  std::filesystem::rename(away, file);
  CHECK_FALSE(store.failing());
  REQUIRE(put(store, 3).get().empty());
  CHECK(stored(store.file()) == Rows{1, 3});
}

TEST_CASE("operations that wait share one commit, and one that throws is undone alone") {
  Scratch scratch;
  GroupCommit store(scratch.path() / "g.db", kKind);
  Gate gate(store);
  const auto markers = [&] {
    return SQLite::Database(store.file().string())
        .execAndGet("SELECT n FROM counters WHERE what = 'commit'")
        .getInt64();
  };
  const auto before = markers();
  auto a = put(store, 1), b = put(store, 2), twice = put(store, 1);
  auto thrown = std::make_shared<std::promise<std::exception_ptr>>();
  store.post(
      [](SQLite::Database& db) {
        db.exec("INSERT INTO t VALUES (9)");
        throw krux::conflict("no");
      },
      [thrown](std::exception_ptr e) { thrown->set_value(e); });
  auto c = put(store, 3);
  gate.open();
  CHECK(a.get() == "");
  CHECK(b.get() == "");
  CHECK_THAT(twice.get(), Catch::Contains("UNIQUE"));
  CHECK_THROWS_AS(std::rethrow_exception(thrown->get_future().get()), krux::Error);
  CHECK(c.get() == "");
  CHECK(stored(store.file()) == Rows{1, 2, 3});
  CHECK(markers() == before + 2);  // the gate's group and this one
}

TEST_CASE("what is posted together is one commit, in its order, on the thread of who waits where the store is idle") {
  Scratch scratch;
  GroupCommit store(scratch.path() / "g.db", kKind);
  const auto commits = [&] {
    return SQLite::Database(store.file().string())
        .execAndGet("SELECT n FROM counters WHERE what = 'commit'")
        .getInt64();
  };
  std::vector<std::string> answers;
  const auto item = [&](const std::string& sql) {
    return GroupCommit::Item{[sql](SQLite::Database& db) { db.exec(sql); },
                             [&](std::exception_ptr error) { answers.push_back(error ? "refused" : "in"); }};
  };
  const auto before = commits();
  store.post({item("INSERT INTO t VALUES (1)"), item("INSERT INTO t VALUES (1)"),
              item("INSERT INTO t SELECT max(x) + 1 FROM t")},
             GroupCommit::Thread::kCallers);
  CHECK(answers == std::vector<std::string>{"in", "refused", "in"});
  CHECK(stored(store.file()) == Rows{1, 2});
  CHECK(commits() == before + 1);
}

TEST_CASE("what need not outlast a power cut waits for no disk, and the next that must takes it along") {
  FaultVfs disk;
  Scratch scratch;
  GroupCommit store(scratch.path() / "g.db", kKind);
  const auto put_lightly = [&](std::int64_t x) {
    std::promise<void> done;
    store.post([x](SQLite::Database& db) { db.exec("INSERT INTO t VALUES (" + std::to_string(x) + ")"); },
               [&](std::exception_ptr) { done.set_value(); }, GroupCommit::Outlasts::kProcess);
    done.get_future().wait();
  };
  REQUIRE(put(store, 1).get().empty());
  const auto before = disk.log_syncs();
  REQUIRE(before > 0);
  put_lightly(2);
  put_lightly(3);
  CHECK(disk.log_syncs() == before);
  CHECK(stored(store.file()) == Rows{1, 2, 3});
  SECTION("after it") {
    REQUIRE(put(store, 4).get().empty());
    CHECK(disk.log_syncs() > before);
  }
  SECTION("in one group with it") {
    Gate gate(store);
    const auto held = disk.log_syncs();
    auto lasting = put(store, 4);
    std::promise<void> done;
    store.post([](SQLite::Database& db) { db.exec("INSERT INTO t VALUES (5)"); },
               [&](std::exception_ptr) { done.set_value(); }, GroupCommit::Outlasts::kProcess);
    gate.open();
    lasting.get();
    done.get_future().wait();
    CHECK(disk.log_syncs() > held);
  }
}

TEST_CASE("a statement error that ends the transaction loses nobody else's operation") {
  Scratch scratch;
  GroupCommit store(scratch.path() / "g.db", kKind);
  Gate gate(store);
  auto a = put(store, 1);
  auto bad = std::make_shared<std::promise<std::exception_ptr>>();
  store.post(
      [](SQLite::Database& db) {
        db.exec("INSERT INTO t VALUES (5)");
        db.exec("INSERT OR ROLLBACK INTO t VALUES (5)");
      },
      [bad](std::exception_ptr e) { bad->set_value(e); });
  auto b = put(store, 2);
  gate.open();
  CHECK(a.get() == "");
  CHECK(bad->get_future().get() != nullptr);
  CHECK(b.get() == "");
  CHECK(stored(store.file()) == Rows{1, 2});
}

TEST_CASE("a full disk is answered, nothing is lost, and it goes on when there is space") {
  Scratch scratch;
  FaultVfs disk;
  GroupCommit store(scratch.path() / "g.db", kKind);
  REQUIRE(put(store, 1).get() == "");
  disk.fail_writes(SQLITE_FULL, 0, "-wal");
  CHECK_THAT(put(store, 2).get(), Catch::Contains("disk is full") || Catch::Contains("cannot commit"));
  CHECK_FALSE(put(store, 3).get().empty());
  disk.heal();
  std::string answer;
  do {
    std::this_thread::yield();
    answer = put(store, 4).get();
  } while (store.failing() || !answer.empty());
  CHECK(stored(store.file()) == Rows{1, 4});
}

TEST_CASE("a full disk in the middle of a large operation is answered too") {
  Scratch scratch;
  FaultVfs disk;
  GroupCommit store(scratch.path() / "g.db", kKind);
  Gate gate(store);
  auto a = put(store, 1);
  auto big = std::make_shared<std::promise<std::exception_ptr>>();
  // More than the page cache holds: it spills into the log before the commit.
  store.post([](SQLite::Database& db) { db.exec("INSERT INTO big VALUES (randomblob(40000000))"); },
             [big](std::exception_ptr e) { big->set_value(e); });
  disk.fail_writes(SQLITE_FULL, 20, "-wal");
  gate.open();
  CHECK(big->get_future().get() != nullptr);
  a.wait();
  disk.heal();
  while (!put(store, 2).get().empty()) std::this_thread::yield();
  const auto rows = stored(store.file());
  CHECK(std::count(rows.begin(), rows.end(), 2) == 1);
  CHECK(std::count(rows.begin(), rows.end(), 1) == (a.get().empty() ? 1 : 0));
}

TEST_CASE("after a failed COMMIT the database itself says what became of the group") {
  Scratch scratch;
  FaultVfs disk;
  GroupCommit store(scratch.path() / "g.db", kKind);
  REQUIRE(put(store, 1).get() == "");
  Gate gate(store);
  auto a = put(store, 2), b = put(store, 3);
  disk.fail_syncs(SQLITE_IOERR_FSYNC, "-wal");
  gate.open();
  const bool in = a.get().empty();
  CHECK(b.get().empty() == in);
  CHECK(disk.faults() == 1);
  while (store.failing()) std::this_thread::yield();
  REQUIRE(put(store, 4).get() == "");
  // What was answered is what a restart finds, also when the log is all there is.
  const auto copy = scratch.path() / "copy.db";
  std::filesystem::copy_file(store.file(), copy);
  std::filesystem::copy_file(store.file().string() + "-wal", copy.string() + "-wal");
  CHECK(stored(copy) == (in ? Rows{1, 2, 3, 4} : Rows{1, 4}));
}

TEST_CASE("while commits fail nothing is accepted") {
  Scratch scratch;
  FaultVfs disk;
  GroupCommit store(scratch.path() / "g.db", kKind);
  disk.fail_syncs(SQLITE_IOERR_FSYNC, "", true);
  auto first = put(store, 1);
  while (!store.failing()) std::this_thread::yield();
  CHECK_THAT(put(store, 2).get(), Catch::Contains("cannot commit"));
  disk.fail_opens(true);
  CHECK(store.failing());
  disk.heal();
  const bool in = first.get().empty();
  while (store.failing()) std::this_thread::yield();
  CHECK(put(store, 3).get() == "");
  CHECK(stored(store.file()) == (in ? Rows{1, 3} : Rows{3}));
}

TEST_CASE("the end waits for what is queued, and does not hang on a dead disk") {
  Scratch scratch;
  FaultVfs disk;
  const auto file = scratch.path() / "g.db";
  std::vector<std::future<std::string>> all;
  {
    GroupCommit store(file, kKind);
    for (int i = 0; i < 300; ++i) all.push_back(put(store, i));
  }
  for (auto& one : all) CHECK(one.get() == "");
  CHECK(stored(file).size() == 300);
  std::future<std::string> last;
  {
    GroupCommit store(file, kKind);
    disk.fail_syncs(SQLITE_IOERR_FSYNC, "", true);
    last = put(store, 1000);
    while (!store.failing()) std::this_thread::yield();
  }
  CHECK_FALSE(last.get().empty());
}

TEST_CASE("many threads, many operations, each exactly once") {
  Scratch scratch;
  GroupCommit store(scratch.path() / "g.db", kKind);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 100; ++i) {
        store.run(
            [&](SQLite::Database& db) { db.exec("INSERT INTO t VALUES (" + std::to_string(t * 1000 + i) + ")"); });
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(stored(store.file()).size() == 400);
}

}  // namespace KRUXOS_TEST_FILE
