// The audit log's key, heads and cuts where a disk fails, a clock is wrong, or nothing happens for long.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "core/audit/anchors.hpp"
#include "core/audit/audit_fixture.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

namespace {

std::int64_t last_anchored(const Kept& f) {
  const auto all = f.heads();
  return all.empty() ? 0 : all.back().head.seq;
}

std::int64_t cuts(const LogFixture& f) {
  const auto kinds = f.kinds();
  return std::count(kinds.begin(), kinds.end(), "log.cut");
}

}  // namespace

TEST_CASE("what came before a quiet time is anchored in it") {
  Kept f;
  f.log.reset();
  auto options = f.options();
  options.anchor_every = std::chrono::minutes(5);
  f.start(std::move(options));
  f.put("a");
  REQUIRE(f.log->flush());
  f.put("b");
  REQUIRE(f.log->flush());
  const auto before = last_anchored(f);
  CHECK(before < f.log->status().head.seq);
  while (f.clock.waiters() == 0) std::this_thread::yield();
  f.clock.advance(5 * 60'000);
  while (last_anchored(f) == before) std::this_thread::yield();
  CHECK(last_anchored(f) == f.log->status().head.seq);
}

TEST_CASE("a host that ends has its last head signed though its audit log lives on") {
  Kept f;
  f.log.reset();
  auto options = f.options();
  options.anchor_every = std::chrono::hours(1);
  f.start(std::move(options));
  REQUIRE(f.log->flush());
  f.put("a");
  REQUIRE(f.log->flush());
  CHECK(last_anchored(f) < f.log->status().head.seq);
  f.put("b");
  REQUIRE(f.log->settle());
  CHECK(f.kinds().back() == "b");
  CHECK(last_anchored(f) == f.log->status().head.seq);
}

TEST_CASE("a new key that cannot be put in its place is in force, and is not overwritten by the next one") {
  Kept f;
  const auto file = f.scratch.path() / "keys/audit.key";
  const auto aside = f.scratch.path() / "keys/aside";
  std::filesystem::rename(file, aside);
  std::filesystem::create_directory(file);
  const auto next = f.log->rotate_key();
  CHECK(f.log->status().key == next);
  CHECK_THROWS(f.log->rotate_key());
  CHECK(f.log->status().key == next);
  std::filesystem::remove(file);
  std::filesystem::rename(aside, file);
  f.restart();
  CHECK(f.log->status().key == next);
  const auto check = f.whole_check(next);
  CHECK(named(check) == Texts{});
  CHECK(check.notes.empty());
}

TEST_CASE("a change of the key whose outcome is not known is looked up in the log") {
  for (const bool is_known : {false, true}) {
    INFO(is_known);
    support::FaultVfs vfs;
    Kept f;
    f.log.reset();
    std::atomic<int> failures = 0;
    auto options = f.options();
    options.on_change = [&](const std::string& why) { failures += why.empty() ? 0 : 1; };
    f.start(std::move(options));
    REQUIRE(f.log->flush());
    const auto before = f.log->status().key;
    is_known ? vfs.fail_writes(SQLITE_FULL, 0, "audit.db-wal") : vfs.fail_syncs(SQLITE_IOERR_FSYNC, "audit.db-wal");
    CHECK_THROWS(f.log->rotate_key());
    vfs.heal();
    REQUIRE(f.log->flush());
    CHECK(failures == 1);  // so that the file was opened anew
    f.put("a");
    REQUIRE(f.log->flush());
    const auto key = f.log->status().key;
    if (is_known) CHECK(key == before);
    f.restart();
    CHECK(f.log->status().key == key);
    REQUIRE(f.log->flush());
    const auto check = f.whole_check(key);
    CHECK(named(check) == Texts{});
    CHECK(check.notes.empty());
  }
}

TEST_CASE("a key that was refused while the log could not be written does not come later") {
  support::FaultVfs vfs;
  Kept f;
  REQUIRE(f.log->flush());
  const auto before = f.log->status().key;
  vfs.fail_writes(SQLITE_FULL, 0, "audit.db-wal");
  f.put("a");
  CHECK_THROWS(f.log->rotate_key());
  vfs.heal();
  REQUIRE(f.log->flush());
  CHECK(f.log->status().key == before);
}

TEST_CASE("a clock that is far ahead takes nothing out of the audit log") {
  Kept f;
  f.put("a");
  REQUIRE(f.log->flush());
  f.log.reset();
  f.clock.jump_wall(400 * kDay);
  f.restart();
  REQUIRE(f.log->flush());
  CHECK(cuts(f) == 0);
  f.clock.jump_wall(400 * kDay);
  f.clock.advance(kDay);
  REQUIRE(f.log->flush());
  CHECK(cuts(f) == 0);
  f.clock.advance(10 * kDay);
  REQUIRE(f.log->flush());
  CHECK(cuts(f) == 1);
}

TEST_CASE("a row that was stamped far ahead keeps no older one in the audit log") {
  Kept f;
  f.clock.jump_wall(400 * kDay);
  f.put("ahead");
  REQUIRE(f.log->flush());
  f.clock.jump_wall(-400 * kDay);
  f.put("b");
  REQUIRE(f.log->flush());
  f.clock.advance(11 * kDay);
  f.put("d");
  REQUIRE(f.log->flush());
  f.put("e");
  REQUIRE(f.log->flush());
  CHECK(f.kinds().front() == "d");
  CHECK(named(f.whole_check(f.log->status().key)) == Texts{});
}

}  // namespace KRUXOS_TEST_FILE
