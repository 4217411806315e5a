// Ledgers that an earlier version wrote go on under the present names.
#include <SQLiteCpp/Statement.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "core/audit/outbox.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace write_test;

namespace {

/// The last versions before columns got the standard terms, and before the tables of writes and attempts were made
/// anew.
constexpr int kBeforeTerms = 14, kBeforeCheaperWrites = 16;
/// And before old receipts of the agents' state had an index, and the outbox none beside its rows.
constexpr int kBeforeReceiptsByTime = 35, kBeforeOutboxByNumber = 36;

/// Of the third row: what is decided about a write finds it by its seq, which its id tells.
const std::string kCopied = "w_00000000-0000-7003-8000-000000000000";

DatabaseKind kind_of_version(int version) {
  const std::span all = kLedgerKind.migrations;
  auto kind = kLedgerKind;
  kind.migrations = all.first(static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [version](const auto& one) { return one.number <= version; })));
  return kind;
}

/// A ledger as that version made it, with a row for each flag that has another name now.
std::filesystem::path old_ledger(const std::filesystem::path& directory) {
  auto file = directory / "kruxos.db";
  const auto kind = kind_of_version(kBeforeTerms);
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
  add(kCopied, "buffered", ", copied = 1, look_first = 1, evidence = 'absent'");
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
  CHECK(found.at(kCopied).held_as_copy);
  CHECK(found.at(kCopied).reconcile_first);
  CHECK(found.at(kCopied).evidence == "absent");
  CHECK(found.at("in a lane").ordering_key == "one");
  CHECK(found.at("undone").rollback_ms == 604'800'000);
  CHECK(found.at("undoing").rolls_back == "undone");

  auto counts = ledger.counts();
  CHECK(counts.needs_operator == 3);
  CHECK(counts.held_as_copy == 1);
  WriteFilter waiting;
  waiting.needs_operator = true;
  CHECK(ledger.list(waiting).size() == 3);

  Answer<WriteRecord> discarded;
  ledger.decide_copied(kCopied, WriteEvent::kOperatorDiscard, "absent", "operator:ann", discarded.slot());
  REQUIRE(discarded.value().state == WriteState::kDiscarded);
  counts = ledger.counts();
  CHECK(counts.needs_operator == 2);
  CHECK(counts.held_as_copy == 0);
}

namespace {

/// A write that has been tried once and is under way again, with what else has a row of it.
std::filesystem::path ledger_under_way(const std::filesystem::path& directory) {
  auto file = directory / "kruxos.db";
  const auto kind = kind_of_version(kBeforeCheaperWrites);
  const auto db = open_database(file, kind);
  db->exec(
      "INSERT INTO boots (boot, boot_id) VALUES (1, 'boot-1');"
      "INSERT INTO writes (seq, write_id, state, irrevocable, escalated, due_at_ms, due_boot_ms, boot, owner_epoch, "
      "attempts, tries, looks, immediate, created_at_ms, buffer_until_ms, delay_ms, settle_ms, first_attempt_at_ms, "
      "unknown_since_ms, ended_at_ms, agent_id, service, account_id, generation, operation, intent, content_hash, "
      "idempotency_key, tier, definition_version, when_absent, summary, params_json, params_shown_json, note_json, "
      "point_json, result_json, error_type, error_message, decided_by, rolls_back, rollback_ms, target, counted_as, "
      "approval_reason, ordering_key, waits_in_line, out_of_order, cleanup, cleans, begun_attempt, "
      "waits_for_connection, held_as_copy, reconcile_first, evidence, evidence_json, evidence_at_ms, release_wanted) "
      "VALUES (7, 'under way', 'buffered', 1, 1, 11, 12, 1, 13, 2, 14, 15, 0, 17, 18, 19, 20, 21, 22, 23, 'agent_1', "
      "'notes', 'A1', 3, 'notes.add', 24, 'hash', 'key', 'notify', '1.2', 'ask', 'a note', '{\"a\":1}', "
      "'{\"a\":2}', '{\"b\":1}', '{\"c\":1}', '{\"d\":1}', 'WriteFailed', 'No.', 'operator:ann', 'w_other', "
      "25, 'here', 'notes.put', 'Why not.', 'lane', 1, 1, 'possible', 'w_cleaned', 2, 1, 1, 1, 'found', "
      "'{\"e\":1}', 26, 1);"
      "INSERT INTO attempts (write_seq, kind, number, started_at_ms, ended_at_ms, outcome, wire, message, who) VALUES "
      "(7, 'attempt', 1, 100, 110, 'certainly_not_done', 'nothing_sent', 'No network.', 'host'), "
      "(7, 'decision', 1, 120, 120, 'operator_resend', NULL, NULL, 'operator:ann'), "
      "(7, 'attempt', 2, 130, NULL, NULL, NULL, NULL, 'host');"
      "INSERT INTO edits (write_seq, edited_at_ms, who, from_hash, to_hash, from_json, to_json) VALUES "
      "(7, 1, 'operator:ann', 'a', 'b', '{}', '{}');"
      "UPDATE writes SET state = 'executing'");
  return file;
}

/// Every column of the one row, by its name.
std::map<std::string, std::string> columns_of_write(SQLite::Database& db) {
  SQLite::Statement row(db, "SELECT * FROM writes");
  REQUIRE(row.executeStep());
  std::map<std::string, std::string> columns;
  for (int i = 0; i < row.getColumnCount(); ++i) columns[row.getColumnName(i)] = row.getColumn(i).getString();
  return columns;
}

}  // namespace

TEST_CASE("a ledger whose tables are made anew keeps every column, the order of its history and what is under way") {
  support::Scratch scratch;
  const auto file = ledger_under_way(scratch.path());
  auto before = columns_of_write(*open_database(file, kind_of_version(kBeforeCheaperWrites)));
  DrivenClock clock;
  GroupCommit store(file, kLedgerKind);
  store.run([&](SQLite::Database& db) {
    auto after = columns_of_write(db);
    CHECK(after.at("claimed_at_ms") == "130");
    CHECK(after.at("send_at_ms").empty());
    CHECK(after.at("decided_since_revoked") == "0");
    CHECK(after.at("counted_at_ms") == "1");  // of its edit
    CHECK(after.at("asked_by").empty());
    CHECK(after.at("approval_until_ms").empty());
    CHECK(after.at("standing_approval").empty());
    for (const auto* added : {"claimed_at_ms", "send_at_ms", "decided_since_revoked", "session_id", "counted_at_ms",
                              "asked_by", "approval_until_ms", "standing_approval", "approvals_needed"})
      after.erase(added);
    CHECK(after == before);
    CHECK_FALSE(SQLite::Statement(db, "PRAGMA foreign_key_check").executeStep());
    CHECK(db.execAndGet("PRAGMA foreign_keys").getInt() == 1);
    CHECK_THROWS(
        db.exec("INSERT INTO edits (write_seq, edited_at_ms, who, from_hash, to_hash, from_json, to_json) "
                "VALUES (8, 1, '', '', '', '', '')"));
    CHECK_THROWS(db.exec("UPDATE writes SET state = 'somewhere'"));
    db.exec(
        "UPDATE writes SET write_id = 'w_00000000-0000-7007-8000-000000000000', escalated = 0, held_as_copy = 0, "
        "reconcile_first = 0, release_wanted = 0, rolls_back = NULL, cleans = NULL");
  });
  Ledger ledger(store, clock, "boot-1");
  const std::string id = "w_00000000-0000-7007-8000-000000000000";
  auto history = ledger.history(id);
  REQUIRE(history.size() == 3);
  CHECK(ledger.totals(id).attempts == 3);
  CHECK(history[0].message == "No network.");
  CHECK(history[1].outcome == "operator_resend");
  CHECK(history[2].started_at_ms == 130);
  CHECK(history[2].outcome.empty());
  CHECK(history[2].ended_at_ms == 0);

  ledger.recover(true, {}, {});
  history = ledger.history(id);
  REQUIRE(history.size() == 3);
  CHECK(history[2].started_at_ms == 130);
  CHECK(history[2].outcome == "host_started");
  CHECK(ledger.counts().executing == 0);
  CHECK(ledger.counts().unknown == 1);
}

TEST_CASE("a ledger of before receipts had an index by their time gets it") {
  support::Scratch scratch;
  const auto file = scratch.path() / "kruxos.db";
  const auto has_index = [](SQLite::Database& db) {
    return db.execAndGet("SELECT count(*) FROM sqlite_master WHERE name = 'state_receipts_time'").getInt() == 1;
  };
  CHECK_FALSE(has_index(*open_database(file, kind_of_version(kBeforeReceiptsByTime))));
  const auto db = open_database(file, kLedgerKind);
  CHECK(has_index(*db));
  SQLite::Statement plan(*db, "EXPLAIN QUERY PLAN DELETE FROM state_receipts WHERE at_ms <= 1");
  REQUIRE(plan.executeStep());
  CHECK_THAT(plan.getColumn("detail").getString(), Catch::Contains("state_receipts_time"));
}

TEST_CASE("the outbox of an earlier ledger keeps its rows and numbers, in one tree") {
  support::Scratch scratch;
  const auto file = scratch.path() / "kruxos.db";
  const AuditEntry entry{"write.submitted", 1, "agent_1", "notes", "N1", "w_1", "{}"};
  const auto has_index = [](SQLite::Database& db) {
    return db.execAndGet("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'audit_outbox'")
               .getInt() == 1;
  };
  {
    const auto db = open_database(file, kind_of_version(kBeforeOutboxByNumber));
    CHECK(has_index(*db));
    StatementCache sql(db->getHandle());
    for (int i = 0; i < 3; ++i) put_in_outbox(sql, entry);
    forget_chained(sql, 2, {});
  }
  const auto db = open_database(file, kLedgerKind);
  CHECK_FALSE(has_index(*db));
  StatementCache sql(db->getHandle());
  put_in_outbox(sql, entry);
  const auto rows = read_outbox(sql, 0, 10);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].source == 3);
  CHECK(rows[1].source == 4);
  CHECK(rows[0].write_id == "w_1");
}

}  // namespace KRUXOS_TEST_FILE
