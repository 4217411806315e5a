// The audit log's key, its signed heads, and how long rows are kept.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <mutex>

#include "core/audit/anchors.hpp"
#include "core/audit/audit_fixture.hpp"
#include "core/audit/chain.hpp"
#include "core/util/json.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

TEST_CASE("the audit log's key is the host's alone, and stays") {
  Kept f;
  const auto key = f.log->status().key;
  CHECK(key.size() == 64);
  struct stat info {};
  REQUIRE(::stat((f.scratch.path() / "keys/audit.key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  f.restart();
  CHECK(f.log->status().key == key);
  CHECK(f.whole_check(key).whole());
  CHECK(named(f.whole_check(std::string(64, '0'))) == Texts{"signature 2"});
}

TEST_CASE("a key that replaces another one has its word, and what was signed before still counts") {
  Kept f;
  const auto before = f.log->status().key;
  f.put("a");
  REQUIRE(f.log->flush());
  const auto after = f.log->rotate_key();
  CHECK(after != before);
  CHECK(f.log->status().key == after);
  f.put("b");
  REQUIRE(f.log->flush());
  f.restart();
  CHECK(f.log->status().key == after);
  const auto check = f.whole_check(after);
  CHECK(named(check) == Texts{});
  CHECK(check.notes.empty());
}

TEST_CASE("a key file that somebody has replaced is told of") {
  Kept f;
  f.log.reset();
  std::filesystem::remove(f.scratch.path() / "keys/audit.key");
  f.restart();
  const auto check = f.whole_check();
  CHECK(named(check) == Texts{"signature 3"});
  CHECK(check.problems[0].message.find("which has given no word for it") != std::string::npos);
  // Whoever vouches for the new key sees that row alone.
  CHECK(named(f.whole_check(f.log->status().key)) == Texts{"signature 3"});
}

TEST_CASE("a host that is killed while it replaces its key goes on with the one that the log names") {
  for (const char* point : {"audit.key.before_commit", "audit.key.after_commit"}) {
    INFO(point);
    Kept f;
    f.log.reset();
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      support::arm_fault(point);
      DrivenClock clock;
      GroupCommit store(f.scratch.path() / "other.db", kLedgerKind);
      AuditLog log(store, clock, f.options());
      log.rotate_key();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    f.restart();
    REQUIRE(f.log->flush());
    const auto check = f.whole_check(f.log->status().key);
    CHECK(named(check) == Texts{});
    CHECK(check.notes.empty());
  }
}

TEST_CASE("a cut tail of the audit log shows by the heads outside, whoever changed the log") {
  Kept f;
  for (const char* kind : {"a", "b", "c"}) {
    f.put(kind);
    REQUIRE(f.log->flush());
  }
  CHECK(f.heads().size() >= 3);
  f.log.reset();
  f.tamper(
      "DELETE FROM entries WHERE seq > 3;"
      "UPDATE log SET head_seq = 3, head_hash = (SELECT hash FROM entries WHERE seq = 3)");
  CHECK(f.check().whole());
  CHECK(named(f.whole_check()) == Texts{"cut 4"});
}

TEST_CASE("heads that cannot be written are told of, and again once they can") {
  LogFixture f;
  f.log.reset();
  std::mutex mutex;
  Texts told;
  AuditOptions options;
  options.key_file = f.scratch.path() / "audit.key";
  options.anchor_file = f.scratch.path() / "share/audit.heads";
  options.anchor_every = std::chrono::milliseconds(0);
  options.on_anchor = [&](const std::string& why) {
    const std::lock_guard lock(mutex);
    told.push_back(why.substr(0, 39));
  };
  f.start(std::move(options));
  for (const char* kind : {"a", "b"}) {
    f.put(kind);
    CHECK(f.log->flush());
  }
  std::filesystem::create_directory(f.scratch.path() / "share");
  f.put("c");
  CHECK(f.log->flush());
  f.log.reset();
  CHECK(told == Texts{"The audit log's heads cannot be written", ""});
}

TEST_CASE("a log that was written anew from some row on, hashes included, is not the one whose heads were signed") {
  Kept f;
  f.put("a");
  f.put("b");
  REQUIRE(f.log->flush());
  f.log.reset();
  auto rows = audit_rows_after(f.file(), 0, 100);
  const auto changed = static_cast<std::size_t>(
      std::find_if(rows.begin(), rows.end(), [](const AuditRow& row) { return row.kind == "a"; }) - rows.begin());
  rows[changed].body = R"({"who":"nobody"})";
  std::string sql;
  for (auto i = changed; i < rows.size(); ++i) {
    if (i > changed) rows[i].prev = rows[i - 1].hash;
    rows[i].hash = chain_hash(rows[i].prev, view_of(rows[i]));
    sql += "UPDATE entries SET body = '" + rows[i].body + "', prev = x'" + hash_hex(rows[i].prev) + "', hash = x'" +
           hash_hex(rows[i].hash) + "' WHERE seq = " + std::to_string(rows[i].seq) + ";";
  }
  f.tamper(sql + "UPDATE log SET head_hash = x'" + hash_hex(rows.back().hash) + "'");
  CHECK(f.check().whole());
  CHECK(named(f.whole_check()) == Texts{"replaced " + std::to_string(rows.size())});
}

TEST_CASE("a head that nobody has signed is none") {
  Kept f;
  f.put("a");
  REQUIRE(f.log->flush());
  f.log.reset();
  const auto file = f.options().anchor_file;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  auto forged = parse_json(line, "line");
  forged["seq"].SetInt64(99);
  std::ofstream(file, std::ios::app) << to_json(forged) << "\nnonsense\n";
  const auto check = f.whole_check();
  CHECK(named(check) == Texts{"signature 99"});
  CHECK(check.notes.size() == 1);
}

TEST_CASE("rows that are kept no longer go from the front, and the chain still holds") {
  Kept f;
  for (const char* kind : {"a", "b", "c"}) f.put(kind);
  REQUIRE(f.log->flush());
  f.clock.advance(11 * kDay);
  f.put("d");
  REQUIRE(f.log->flush());
  f.put("e");
  REQUIRE(f.log->flush());
  const auto kinds = f.kinds();
  CHECK(kinds.front() == "d");
  CHECK(std::count(kinds.begin(), kinds.end(), "log.cut") == 1);
  const auto check = f.whole_check(f.log->status().key);
  CHECK(named(check) == Texts{});
  CHECK(check.heads > 0);
  CHECK(check.newest_head == f.log->status().head.seq);
  REQUIRE(check.notes.size() == 1);
  CHECK(check.notes[0] == "rows 1 to 5 were taken out for their age, as row 7 says.");
  // Without that row's word they are missing.
  f.log.reset();
  f.tamper("DELETE FROM entries WHERE seq = (SELECT min(seq) FROM entries)");
  CHECK(named(f.whole_check()).front() == "missing 1");
}

TEST_CASE("a host that is killed while it takes rows out leaves a chain that holds") {
  for (const char* point : {"audit.cut.before_commit", "audit.cut.after_commit"}) {
    INFO(point);
    Kept f;
    f.put("a");
    REQUIRE(f.log->flush());
    f.log.reset();
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      support::arm_fault(point);
      DrivenClock clock(f.clock.wall_ms());
      GroupCommit store(f.scratch.path() / "kruxos.db", kLedgerKind);
      AuditLog log(store, clock, f.options());
      log.flush();
      clock.advance(11 * kDay);
      log.flush();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    f.restart();
    REQUIRE(f.log->flush());
    CHECK(named(f.whole_check()) == Texts{});
  }
}

}  // namespace KRUXOS_TEST_FILE
