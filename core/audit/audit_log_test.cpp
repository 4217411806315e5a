#include "core/audit/audit_log.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "core/audit/audit_fixture.hpp"
#include "support/fault.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

TEST_CASE("what commits in the ledger stands in the audit log, once and in its order") {
  LogFixture f;
  f.put("a", R"({"n":1})");
  f.put("b");
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "a", "b"});
  const auto rows = audit_rows_after(f.file(), 0, 10);
  CHECK(rows[1].body == R"({"n":1})");
  CHECK(rows[1].agent_id == "agent_1");
  CHECK(rows[1].source == 1);
  CHECK(rows[2].source == 2);
  f.put("c");
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "a", "b", "c"});
  CHECK(f.check().whole());
  CHECK(f.left_in_outbox() == 1);  // by which the numbers go on
  CHECK(f.log->status().head.seq == 4);
}

TEST_CASE("what is undone in the ledger does not stand in the audit log") {
  LogFixture f;
  CHECK_THROWS(f.store.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    put_in_outbox(sql, entry_of("never", 1));
    throw invalid_input("no");
  }));
  f.put("a");
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "a"});
  CHECK(f.check().whole());
}

TEST_CASE("entries of the host's memory are chained with those of the ledger, by their time") {
  LogFixture f;
  f.put("a");
  f.clock.advance(10);
  f.log->add(entry_of("read", f.clock.wall_ms()));
  f.clock.advance(10);
  f.put("b");
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "a", "read", "b"});
  CHECK(audit_rows_after(f.file(), 2, 1).front().source == 0);
}

TEST_CASE("what commits in the ledger is chained soon without being asked for") {
  LogFixture f;
  f.put("a");
  while (f.log->status().head.seq < 2) std::this_thread::yield();
  CHECK(f.kinds() == Texts{"log.begun", "a"});
}

TEST_CASE("a change that was taken out before it was chained is told of") {
  LogFixture f;
  f.put("a");
  REQUIRE(f.log->flush());
  f.log.reset();
  f.store.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    for (const char* kind : {"b", "c", "d"}) put_in_outbox(sql, entry_of(kind, f.clock.wall_ms()));
    sql.get("DELETE FROM audit_outbox WHERE kind IN ('b', 'c')").run();
  });
  f.start();
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "a", "log.gap", "d"});
  const auto check = f.check();
  CHECK(named(check) == Texts{"lost 3"});
  CHECK(check.problems.front().message ==
        "row 3: changes 2 to 3 of the ledger were taken out before they stood in the log.");
}

TEST_CASE("a ledger that was put back is told of, and the chain goes on") {
  LogFixture f;
  f.put("a");
  f.put("b");
  REQUIRE(f.log->flush());
  f.log.reset();
  f.store.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    sql.get("UPDATE audit_outbox SET seq = 1").run();
  });
  f.start();
  f.put("c");
  REQUIRE(f.log->flush());
  CHECK(f.kinds() == Texts{"log.begun", "a", "b", "log.restored", "c"});
  const auto check = f.check();
  CHECK(named(check) == Texts{});
  CHECK(check.notes == Texts{"row 4: the ledger was put back to change 1, and 1 that stand before are of one that went "
                             "on."});
}

TEST_CASE("the ledger knows how far its audit log was") {
  LogFixture f;
  f.put("a");
  REQUIRE(f.log->flush());
  const auto head = f.store.run([](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    return noted_head(sql);
  });
  CHECK(head.seq == 2);
  CHECK(head.hash == f.check().head);
}

TEST_CASE("a host that is killed at any step of chaining loses no change and chains none twice") {
  for (const char* point : {"audit.append.before_commit", "audit.append.after_commit", "audit.forget.before_commit",
                            "audit.forget.after_commit"}) {
    INFO(point);
    support::Scratch scratch;
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      support::arm_fault(point, 2);
      DrivenClock clock;
      GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
      AuditLog log(store, clock, {scratch.path() / "audit.db"});
      for (const char* kind : {"a", "b", "c"}) {
        store.run([&](SQLite::Database& db) {
          StatementCache sql(db.getHandle());
          put_in_outbox(sql, entry_of(kind, clock.wall_ms()));
        });
        log.flush();
        store.run([](SQLite::Database&) {});  // behind what the log has taken out
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    DrivenClock clock;
    GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
    const auto committed = store.run([](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      return last_in_outbox(sql);
    });
    AuditLog log(store, clock, {scratch.path() / "audit.db"});
    REQUIRE(log.flush());
    CHECK(committed >= 2);
    const auto rows = audit_rows_after(scratch.path() / "audit.db", 1, 100);
    CHECK(static_cast<std::int64_t>(rows.size()) == committed);
    for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].source == static_cast<std::int64_t>(i) + 1);
    CHECK(named(verify_audit(scratch.path() / "audit.db")) == Texts{});
  }
}

TEST_CASE("while the disk of the audit log is full writes are told so, and nothing is missing afterwards") {
  support::FaultVfs vfs;
  LogFixture f;
  f.log.reset();
  std::mutex mutex;
  Texts told;
  AuditOptions options;
  options.on_change = [&](const std::string& why) {
    const std::lock_guard lock(mutex);
    told.push_back(why.substr(0, 17));
  };
  f.start(std::move(options));
  f.put("a");
  REQUIRE(f.log->flush());
  CHECK_FALSE(f.log->why_not_writable());
  vfs.fail_writes(SQLITE_FULL, 0, "audit.db-wal");
  f.put("b");
  f.log->add(entry_of("read", f.clock.wall_ms()));
  CHECK_FALSE(f.log->flush());
  REQUIRE(f.log->why_not_writable());
  CHECK(f.log->why_not_writable()->type() == ErrorCode::kServiceUnavailable);
  CHECK(f.log->status().problem.find("The disk is full") == 0);
  f.put("c");  // the ledger goes on, and keeps what is to be told
  CHECK_FALSE(f.log->flush());
  vfs.heal();
  REQUIRE(f.log->flush());
  CHECK_FALSE(f.log->why_not_writable());
  auto kinds = f.kinds();
  std::sort(kinds.begin(), kinds.end());
  CHECK(kinds == Texts{"a", "b", "c", "log.begun", "read"});
  CHECK(named(f.check()) == Texts{});
  f.log.reset();
  CHECK(told == Texts{"The disk is full:", ""});
}

TEST_CASE("a commit of the audit log whose outcome is not known is made once") {
  support::FaultVfs vfs;
  LogFixture f;
  f.put("a");
  REQUIRE(f.log->flush());
  f.put("b");
  f.log->add(entry_of("read", f.clock.wall_ms()));
  vfs.fail_syncs(SQLITE_IOERR_FSYNC, "audit.db-wal");
  CHECK_FALSE(f.log->flush());
  vfs.heal();
  REQUIRE(f.log->flush());
  auto kinds = f.kinds();
  std::sort(kinds.begin(), kinds.end());
  CHECK(kinds == Texts{"a", "b", "log.begun", "read"});
  CHECK(named(f.check()) == Texts{});
}

}  // namespace KRUXOS_TEST_FILE
