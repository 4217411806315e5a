#include "host/process/ledger_check.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <thread>

#include "core/storage/database.hpp"
#include "core/storage/group_commit.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("a large ledger is opened unchecked, and its damage is told when it is found") {
  const bool damaged = GENERATE(false, true);
  const support::Scratch scratch;
  const auto file = scratch.path() / "kruxos.db", alerts_file = scratch.path() / "alerts.db";
  open_database(file, kLedgerKind)
      ->exec(
          "CREATE TABLE filler (b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
          "INSERT INTO filler SELECT randomblob(3000) FROM n");
  REQUIRE(is_large(file));
  if (damaged) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(20 << 20);
    bytes << std::string(200'000, '\x55');
  }
  DrivenClock clock;
  CHECK_NOTHROW(GroupCommit(file, kLedgerKind));
  GroupCommit store(alerts_file, kLedgerKind);
  AlertStore alerts(store, clock);
  const LedgerCheck check(file, alerts);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(damaged ? 60 : 1);
  while (alerts.list(true).empty() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  const auto open = alerts.list(true);
  REQUIRE(open.size() == (damaged ? 1 : 0));
  if (damaged) CHECK(open[0].kind == "ledger_damaged");
}

TEST_CASE("the check of a large ledger ends when the host does") {
  const support::Scratch scratch;
  const auto file = scratch.path() / "kruxos.db";
  open_database(file, kLedgerKind)->exec("CREATE TABLE filler (b); INSERT INTO filler VALUES (zeroblob(40000000))");
  const std::atomic<bool> stop{true};
  CHECK_FALSE(is_damaged(file, &stop));
}

}  // namespace KRUXOS_TEST_FILE
