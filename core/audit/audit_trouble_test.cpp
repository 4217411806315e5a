// What the audit log does where its file cannot be written, is not there, or is not the one that it was.
#include <sys/stat.h>

#include <fstream>

#include "core/audit/audit_fixture.hpp"
#include "core/audit/audit_log.hpp"
#include "core/audit/signing_key.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

TEST_CASE("memory has its bound while the audit log cannot be written, and the log tells of what had no place") {
  support::FaultVfs vfs;
  LogFixture f;
  f.log.reset();
  AuditOptions options;
  options.most_waiting = 2;
  f.start(std::move(options));
  REQUIRE(f.log->flush());
  vfs.fail_writes(SQLITE_FULL, 0, "audit.db-wal");
  int placed = 0;
  for (int i = 0; i < 10; ++i) {
    placed += f.log->add(entry_of("read", f.clock.wall_ms()));
    CHECK_FALSE(f.log->flush());
  }
  CHECK(placed == 2);
  CHECK(f.log->status().waiting == 2);
  CHECK(f.log->status().lost == 8);
  vfs.heal();
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "read", "read", "log.lost"});
  CHECK(audit_rows_after(f.file(), 3, 1).front().body.find(R"("rows":8,)") != std::string::npos);
  CHECK(f.log->status().waiting == 0);
  CHECK(f.log->status().lost == 0);
  CHECK_FALSE(f.log->why_not_writable());
  CHECK(named(f.check()) == Texts{});
}

TEST_CASE("there is no place in the audit log's memory for more than it may hold, whoever holds it") {
  support::FaultVfs vfs;
  LogFixture f;
  f.log.reset();
  AuditOptions options;
  options.most_waiting = 3000;
  f.start(std::move(options));
  REQUIRE(f.log->flush());
  vfs.fail_writes(SQLITE_FULL, 0, "audit.db-wal");
  for (int i = 0; i < 3000; ++i) f.log->add(entry_of("read", f.clock.wall_ms()));
  CHECK_FALSE(f.log->flush());
  CHECK_FALSE(f.log->add(entry_of("read", f.clock.wall_ms())));
  CHECK(f.log->status().waiting == 3000);
  vfs.heal();
  REQUIRE(f.log->flush());
  CHECK(f.log->status().head.seq == 3002);
  CHECK(named(f.check()) == Texts{});
}

TEST_CASE("an audit log that was renamed under the host is not written until it is back, and loses nothing") {
  LogFixture f;
  f.put("a");
  REQUIRE(f.log->flush());
  const auto elsewhere = f.scratch.path() / "away.db";
  std::filesystem::rename(f.file(), elsewhere);
  f.put("b");
  f.put("c");
  CHECK_FALSE(f.log->flush());
  CHECK(f.log->status().problem.find("is not the file that this host has opened") != std::string::npos);
  CHECK(f.log->why_not_writable());
  CHECK_FALSE(f.log->flush());
  CHECK_FALSE(std::filesystem::exists(f.file()));  // no other one is begun meanwhile
  CHECK(f.left_in_outbox() == 3);
  std::filesystem::rename(elsewhere, f.file());
  REQUIRE(f.log->flush());
  CHECK_FALSE(f.log->why_not_writable());
  CHECK(f.kinds() == Texts{"log.begun", "a", "b", "c"});
  CHECK(named(f.check()) == Texts{});
}

TEST_CASE("changes stay in the ledger while the audit log's file is gone, and the next log has them") {
  LogFixture f;
  f.put("a");
  REQUIRE(f.log->flush());
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(f.file().string() + end);
  f.put("b");
  CHECK_FALSE(f.log->flush());
  f.log.reset();
  f.start();
  REQUIRE(f.log->flush());
  const auto kinds = f.kinds();
  CHECK(kinds.back() == "b");
  CHECK(std::count(kinds.begin(), kinds.end(), "log.broken") == 1);
}

namespace {

/// A log that knows of three changes, restarted after `damage`.
struct Broken : LogFixture {
  Texts told;
  AuditHead before;
  void begin(bool is_signed) {
    signs = is_signed;
    again();
    for (const char* kind : {"a", "b", "c"}) {
      put(kind);
      REQUIRE(log->flush());
    }
    before = noted();
  }
  void again() {
    log.reset();
    AuditOptions options;
    if (signs) options.key_file = scratch.path() / "keys/audit.key";
    if (signs) options.anchor_file = scratch.path() / "audit.heads";
    options.anchor_every = std::chrono::milliseconds(0);
    options.on_broken = [this](const std::string& what) { told.push_back(what); };
    start(std::move(options));
    REQUIRE(log->flush());
  }
  AuditHead noted() {
    return store.run([](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      return noted_head(sql);
    });
  }
  std::int64_t broken_rows() const {
    const auto all = kinds();
    return std::count(all.begin(), all.end(), "log.broken");
  }
  bool signs = false;
};

}  // namespace

TEST_CASE("an audit log whose end was cut off is told of at the start, and the ledger keeps what it knows") {
  Broken f;
  f.begin(false);
  CHECK(f.told.empty());
  f.log.reset();
  f.tamper(
      "DELETE FROM entries WHERE seq > 2;"
      "UPDATE log SET head_seq = 2, head_hash = (SELECT hash FROM entries WHERE seq = 2)");
  f.again();
  REQUIRE(f.told.size() == 1);
  CHECK(f.told[0].find("its row 4 is missing or another one") != std::string::npos);
  CHECK(f.kinds() == Texts{"log.begun", "a", "log.broken"});
  const auto row = audit_rows_after(f.file(), 2, 1).front();
  CHECK(row.body.find(R"("had":4,)") != std::string::npos);
  // What comes later takes nothing from that.
  f.put("d");
  REQUIRE(f.log->flush());
  f.store.run([](SQLite::Database&) {});
  CHECK(f.noted().seq == f.before.seq);
  CHECK(f.noted().hash == f.before.hash);
  f.again();
  CHECK(f.told.size() == 2);
  CHECK(f.broken_rows() == 1);
  const auto check = verify_audit(f.file());
  CHECK(std::any_of(check.problems.begin(), check.problems.end(), [](const auto& problem) {
    return problem.kind == "cut" && problem.message.find("row 4 that it knew of was missing") != std::string::npos;
  }));
}

TEST_CASE("an audit log that was taken away is told of by a signed row of the next one") {
  Broken f;
  f.begin(true);
  f.log.reset();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(f.file().string() + end);
  f.again();
  CHECK(f.told.size() == 1);
  CHECK(f.kinds() == Texts{"log.begun", "log.key", "log.broken", "log.gap", "c"});
}

TEST_CASE("a head that somebody else has signed is no evidence of anything") {
  Broken f;
  f.begin(true);
  const SigningKey stranger(Secret(std::string(32, 'x')));
  append_anchor(f.scratch.path() / "audit.heads", make_anchor(stranger, f.log->status().log_id, {1'000'000, {}}, 1));
  f.again();
  CHECK(f.told.empty());
  CHECK(f.broken_rows() == 0);
  const auto check = verify_audit(f.file(), {{}, f.scratch.path() / "audit.heads", f.log->status().key});
  CHECK(named(check) == Texts{});
  REQUIRE(check.notes.size() == 1);
  CHECK(check.notes[0].find("heads up to row 1000000 are signed by " + stranger.public_hex()) == 0);
}

TEST_CASE("a head behind a line that was cut off is a line of its own, and a pipe is no file of heads") {
  Broken f;
  f.begin(true);
  const auto file = f.scratch.path() / "audit.heads";
  std::ofstream(file, std::ios::app) << "{\"log_id\":";
  const SigningKey key(Secret(std::string(32, 'x')));
  append_anchor(file, make_anchor(key, "log", {7, {}}, 1));
  std::int64_t unreadable = 0;
  CHECK(read_anchors(file, "log", unreadable).size() == 1);
  CHECK(unreadable == 1);
  REQUIRE(::mkfifo((f.scratch.path() / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(append_anchor(f.scratch.path() / "pipe", make_anchor(key, "log", {7, {}}, 1)),
                    Catch::Contains("cannot be written"));
}

TEST_CASE("a head outside tells of a cut that the ledger does not know of") {
  Broken f;
  f.begin(true);
  f.log.reset();
  f.tamper(
      "DELETE FROM entries WHERE seq > 3;"
      "UPDATE log SET head_seq = 3, head_hash = (SELECT hash FROM entries WHERE seq = 3)");
  f.store.run([](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    sql.get("DELETE FROM audit_head").run();
  });
  f.again();
  CHECK(f.told.size() == 1);
  CHECK(f.broken_rows() == 1);
}

}  // namespace KRUXOS_TEST_FILE
