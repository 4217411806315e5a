#include "core/audit/verify.hpp"

#include <sodium.h>

#include "core/audit/audit_fixture.hpp"
#include "core/audit/chain.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

namespace {

/// Row 1 begins the log; rows 2 to 7 are changes 1 to 6 of the ledger.
struct Six : LogFixture {
  Six() {
    for (int i = 1; i <= 6; ++i) put("k" + std::to_string(i), R"({"n":)" + std::to_string(i) + "}");
    REQUIRE(log->flush());
    log.reset();
  }
};

/// As an attacker would who knows docs/audit.md: the row's hash is made anew.
void rehash(Six& f, std::int64_t seq) {
  auto row = audit_rows_after(f.file(), seq - 1, 1).front();
  const auto hash = hash_hex(chain_hash(row.prev, view_of(row)));
  f.tamper("UPDATE entries SET hash = x'" + hash + "' WHERE seq = " + std::to_string(seq));
}

}  // namespace

TEST_CASE("an audit log that nobody touched is whole") {
  Six f;
  const auto check = f.check();
  CHECK(named(check) == Texts{});
  CHECK(check.rows == 7);
  CHECK(check.first == 1);
  CHECK(check.last == 7);
  CHECK(check.log_id.size() == 32);
  CHECK(check.notes.empty());
}

TEST_CASE("a row of the audit log that was changed is named") {
  for (const char* change : {R"(body = '{"n":9}')", "agent_id = 'agent_2'", "at_ms = at_ms + 1", "kind = 'k9'",
                             "write_id = NULL", "source = 9", "hash = zeroblob(32)", "prev = zeroblob(32)"}) {
    Six f;
    f.tamper(std::string("UPDATE entries SET ") + change + " WHERE seq = 4");
    INFO(change);
    const auto problems = f.check().problems;
    REQUIRE_FALSE(problems.empty());
    CHECK(problems.front().kind == "changed");
    CHECK(problems.front().seq == 4);
    CHECK(problems.front().message == "row 4 was changed: its hash is not that of what stands there.");
  }
}

TEST_CASE("a changed row whose hash was made anew is named by the one behind it") {
  Six f;
  f.tamper(R"(UPDATE entries SET body = '{"n":9}' WHERE seq = 4)");
  rehash(f, 4);
  CHECK(named(f.check()) == Texts{"replaced 4"});
  // The last one has none behind it, but the log's own head.
  Six last;
  last.tamper(R"(UPDATE entries SET body = '{"n":9}' WHERE seq = 7)");
  rehash(last, 7);
  CHECK(named(last.check()) == Texts{"replaced 7"});
}

TEST_CASE("rows that were taken out of the audit log are named") {
  Six f;
  f.tamper("DELETE FROM entries WHERE seq IN (3, 4)");
  const auto problems = f.check().problems;
  REQUIRE_FALSE(problems.empty());
  CHECK(problems.front().kind == "missing");
  CHECK(problems.front().message == "rows 3 to 4 are missing.");
  // The first as well.
  Six first;
  first.tamper("DELETE FROM entries WHERE seq = 1");
  CHECK(named(first.check()).front() == "missing 1");
  // Numbers that were closed up say so by the hashes.
  Six closed;
  closed.tamper("DELETE FROM entries WHERE seq = 4; UPDATE entries SET seq = seq - 1 WHERE seq > 4");
  CHECK(named(closed.check()).front() == "moved 4");
}

TEST_CASE("rows of the audit log that changed places are named") {
  Six f;
  f.tamper(
      "UPDATE entries SET seq = 100 WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 6;"
      "UPDATE entries SET seq = 6 WHERE seq = 100");
  const auto check = f.check();
  const auto names = named(check);
  CHECK(std::count(names.begin(), names.end(), "moved 3") == 1);
  CHECK(std::count(names.begin(), names.end(), "moved 6") == 1);
  CHECK(check.problems.front().message == "row 3 was moved: it was written as row 6.");
}

TEST_CASE("an audit log that was cut off at its end is named as far as somebody knows of it") {
  Six f;
  const auto whole = f.check();
  f.tamper("DELETE FROM entries WHERE seq > 5");
  const auto cut = f.check();
  CHECK(named(cut) == Texts{"cut 6"});
  CHECK(cut.problems.front().message == "the log was cut off: rows 6 to 7 are missing, as the log itself knows.");
  // Whoever changes the log's own head too is found out by others.
  f.tamper("UPDATE log SET head_seq = 5, head_hash = (SELECT hash FROM entries WHERE seq = 5)");
  CHECK(f.check().whole());
  CHECK(named(f.check({{7, whole.head, "the ledger"}})) == Texts{"cut 6"});
  CHECK(named(f.check({{4, whole.head, "the ledger"}})) == Texts{"replaced 4"});
}

TEST_CASE("a log that was made anew is not the one that was known") {
  Six f;
  const auto before = f.check();
  std::filesystem::remove(f.file());
  f.start();
  f.put("k7");
  REQUIRE(f.log->flush());
  const auto found = named(f.check({{7, before.head, "the ledger"}}));
  CHECK(std::count(found.begin(), found.end(), "cut " + std::to_string(f.kinds().size() + 1)) == 1);
}

TEST_CASE("an audit log of which nothing is left is not whole") {
  Six f;
  f.tamper("DELETE FROM entries; DELETE FROM log");
  CHECK(named(f.check()) == Texts{"missing 1", "missing 1"});
  Six rows;
  rows.tamper("DELETE FROM entries");
  CHECK(named(rows.check()) == Texts{"missing 1", "cut 1"});
}

TEST_CASE("a row that begins another log is named") {
  Six f;
  f.tamper(R"(UPDATE entries SET body = '{"format":1,"log_id":"00"}' WHERE seq = 1)");
  rehash(f, 1);
  CHECK(named(f.check()) == Texts{"replaced 1", "replaced 1"});
}

TEST_CASE("a row of the log itself may hold anything, and is named") {
  for (const char* change : {"kind = 'log.cut', body = 'x'", "kind = 'log.key', body = '[]'",
                             R"(kind = 'log.gap', body = '{"from":1,"through":9223372036854775807}')",
                             R"(kind = 'log.restored', body = '{"had":9223372036854775807,"has":-9}')",
                             R"(kind = 'log.restored', body = '{"had":-9223372036854775807,"has":9}')",
                             R"(kind = 'log.lost', body = '{"rows":"many"}')", "source = 9223372036854775807",
                             "source = -9223372036854775807"}) {
    Six f;
    f.tamper(std::string("UPDATE entries SET ") + change + " WHERE seq = 7");
    rehash(f, 7);
    INFO(change);
    const auto problems = f.check().problems;
    REQUIRE_FALSE(problems.empty());
    CHECK(problems.front().kind == "changed");
    CHECK(problems.front().seq == 7);
  }
}

TEST_CASE("a row whose number no row gets is named") {
  for (const char* seq : {"-9223372036854775807", "0", "9223372036854775807"}) {
    Six f;
    f.tamper(std::string("UPDATE entries SET seq = ") + seq + " WHERE seq = 7");
    const auto names = named(f.check());
    CHECK(std::count(names.begin(), names.end(), std::string("changed ") + seq) == 1);
    CHECK(std::count(names.begin(), names.end(), "cut 7") == 1);
  }
}

TEST_CASE("a file that is no audit log is refused, and none is not one") {
  support::Scratch scratch;
  CHECK_THROWS_AS(verify_audit(scratch.path() / "audit.db"), Error);
  { GroupCommit ledger(scratch.path() / "kruxos.db", kLedgerKind); }
  CHECK_THROWS_WITH(verify_audit(scratch.path() / "kruxos.db"), Catch::Contains("not the audit log"));
}

}  // namespace KRUXOS_TEST_FILE
