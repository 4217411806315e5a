// Ledgers that an earlier version wrote go on under the present names.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "core/write/ledger_fixture.hpp"

using namespace krux;
using namespace write_test;

namespace {

/// The last version before columns got the standard terms.
constexpr int kBeforeTerms = 14;

/// A ledger as that version made it, with a row for each flag that has another name now.
std::filesystem::path old_ledger(const std::filesystem::path& directory) {
  auto file = directory / "kruxos.db";
  const std::span all = kLedgerKind.migrations;
  auto kind = kLedgerKind;
  kind.migrations = all.first(static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& one) { return one.number <= kBeforeTerms; })));
  const auto db = open_database(file, kind);
  int seq = 0;
  const auto add = [&](const std::string& id, const std::string& state, const std::string& flags) {
    db->exec(
        "INSERT INTO writes (seq, write_id, state, immediate, created_at_ms, delay_ms, settle_ms, agent_id, service, "
        "account_id, generation, operation, intent, content_hash, tier, definition_version, when_absent, summary, "
        "params_json) VALUES (" +
        std::to_string(++seq) + ", '" + id + "', 'buffered', 0, 1, 30000, 60000, 'agent_1', 'notes', 'A1', 1, " +
        "'notes.add', 0, 'hash', 'notify', '1', 'ask', 'a note', '{}')");
    db->exec("UPDATE writes SET state = '" + state + "'" + flags + " WHERE seq = " + std::to_string(seq));
  };
  add("told", "unknown", ", told_person = 1");
  add("closed", "buffered", ", closed = 1");
  add("copied", "buffered", ", copied = 1, look_first = 1, evidence = 'absent'");
  add("in a lane", "buffered", ", lane = 'one', waits_in_line = 1");
  add("undone", "completed", ", undo_ms = 604800000, ended_at_ms = 5");
  add("undoing", "executing", ", undoes = 'undone'");
  add("asked", "pending_approval", "");
  return file;
}

}  // namespace

TEST_CASE("a ledger of before the standard terms is read under them, counters and order included") {
  support::Scratch scratch;
  const auto file = old_ledger(scratch.path());
  DrivenClock clock;
  GroupCommit store(file, kLedgerKind);
  Ledger ledger(store, clock, "boot-1");

  std::map<std::string, WriteRecord> found;
  for (auto& write : ledger.list({})) found.emplace(write.write_id, write);
  REQUIRE(found.size() == 7);
  CHECK(found.at("told").escalated);
  CHECK(found.at("told").needs_operator());
  CHECK(found.at("closed").irrevocable);
  CHECK(found.at("copied").held_as_copy);
  CHECK(found.at("copied").reconcile_first);
  CHECK(found.at("copied").evidence == "absent");
  CHECK(found.at("in a lane").ordering_key == "one");
  CHECK(found.at("undone").rollback_ms == 604'800'000);
  CHECK(found.at("undoing").rolls_back == "undone");

  auto counts = ledger.counts();
  CHECK(counts.needs_operator == 3);
  CHECK(counts.held_as_copy == 1);
  WriteFilter waiting;
  waiting.needs_operator = true;
  CHECK(ledger.list(waiting).size() == 3);

  store.run([](SQLite::Database& db) { db.exec("UPDATE writes SET escalated = 0, held_as_copy = 0"); });
  counts = ledger.counts();
  CHECK(counts.needs_operator == 1);
  CHECK(counts.held_as_copy == 0);
}
