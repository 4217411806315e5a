// What the ledger does with the writes of an account that nobody can act for any more.
#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>

#include "core/write/copies_test_fixture.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

const std::string kOperator = "operator:ann";

struct HandOver : LedgerFixture {
  AlertStore alerts{store, clock};

  WriteRecord executing(const std::string& text) {
    const auto id = submit(immediate(text)).write.write_id;
    take();
    return ledger->get(id).value();
  }
  std::string unknown(const std::string& text) {
    const auto write = executing(text);
    record(write, WriteEvent::kMayBeDone, 60'000);
    return write.write_id;
  }
  /// The account's row as the vault keeps it.
  void connect(std::int64_t generation, bool disconnected) {
    SQLite::Database db((scratch.path() / "kruxos.db").string(), SQLite::OPEN_READWRITE);
    db.exec(
        "INSERT INTO connections (service, account_id, generation, display_name, principal, scopes_json, scopes_known, "
        "token_origin, connected_at_ms, attention, token) VALUES ('" +
        kAccount.service + "', '" + kAccount.account_id + "', " + std::to_string(generation) +
        ", '', '', '[]', 0, '', 1, '', " + (disconnected ? "NULL" : "x'00'") + ")");
  }
  void hand_over() { ledger->hand_over(kAccount.service, kAccount.account_id, kOperator); }
  WriteRecord get(const std::string& id) { return ledger->get(id).value(); }
};

}  // namespace

TEST_CASE("writes of unknown outcome go to a person, with an alert each, once") {
  HandOver f;
  const auto running = f.executing("running"), other = f.executing("other");
  const auto lost = f.unknown("lost");
  f.hand_over();
  for (const auto& id : {running.write_id, other.write_id, lost}) {
    const auto write = f.get(id);
    CHECK(write.state == WriteState::kUnknown);
    CHECK(write.escalated);
    CHECK(write.due_at_ms == 0);
  }
  CHECK(f.ledger->counts().needs_operator == 3);
  CHECK(f.alerts.list(true).size() == 3);
  CHECK(f.alerts.list(true).front().kind == "disconnected_unknown");
  const auto history = f.ledger->history(running.write_id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].outcome == "may_be_done");
  CHECK(history[0].ended_at_ms != 0);
  f.hand_over();
  CHECK(f.alerts.list(true).size() == 3);
  // An attempt that comes back late says nothing any more, and a person still decides.
  CHECK(std::holds_alternative<Error>(f.record(running, WriteEvent::kDone)));
  CHECK(f.get(running.write_id).state == WriteState::kUnknown);
  f.resolve(running.write_id, WriteEvent::kOperatorHappened);
  CHECK(f.get(running.write_id).state == WriteState::kCompleted);
  CHECK(f.alerts.list(true).size() == 2);
}

TEST_CASE("a write that a person was told of keeps its alert, and is looked for no more") {
  HandOver f;
  const auto id = f.unknown("lost");
  auto report = f.get(id);
  f.record(report, WriteEvent::kEffectAbsentAsk, 960'000, true);
  REQUIRE(f.get(id).escalated);
  f.hand_over();
  CHECK(f.get(id).escalated);
  CHECK(f.get(id).due_at_ms == 0);
  CHECK(f.alerts.list(true).empty());  // the look's own alert is the executor's to give
}

TEST_CASE("what waits to be sent again is discarded, and what has ended or is another account's stays") {
  HandOver f;
  const auto done = f.executing("done");
  f.record(done, WriteEvent::kDone);
  const auto again = f.unknown("again"), late = f.unknown("late");
  f.record(f.get(again), WriteEvent::kEffectAbsentResend, 0, true);
  REQUIRE(f.get(again).state == WriteState::kBuffered);
  REQUIRE(f.get(again).irrevocable);
  f.record(f.get(late), WriteEvent::kEffectDisproved, 60'000, true);
  REQUIRE(f.get(late).state == WriteState::kDeadLetter);
  auto theirs = immediate("theirs");
  theirs.account.account_id = "N0002";
  const auto other = f.submit(theirs).write.write_id;
  f.hand_over();
  CHECK(f.get(again).state == WriteState::kDiscarded);
  CHECK(f.get(again).decided_by == kOperator);
  CHECK(f.get(late).state == WriteState::kDiscarded);
  CHECK(f.ledger->history(again).back().outcome == "operator_discard");
  CHECK(f.get(done.write_id).state == WriteState::kCompleted);
  CHECK(f.get(other).state == WriteState::kBuffered);
  CHECK(f.alerts.list(true).empty());
}

TEST_CASE("what waits for a person and cannot be cancelled any more is discarded too") {
  HandOver f;
  auto asked = new_write("asked about");
  asked.approval_reason = "The tier asks.";
  const auto write = f.submit(asked).write;
  f.ledger.reset();
  REQUIRE(hold_all(f.store, f.clock) == 1);
  f.restart();
  f.looked(write, "absent");
  const auto released = std::get<WriteRecord>(f.decide_copied(write, WriteEvent::kOperatorRelease));
  REQUIRE(released.state == WriteState::kPendingApproval);
  CHECK_THAT(std::get<Error>(f.cancel(write.write_id, {})).what(), Catch::Contains("may have been sent already"));
  f.hand_over();
  CHECK(f.get(write.write_id).state == WriteState::kDiscarded);
  CHECK(f.ledger->counts().needs_operator == 0);
  CHECK(f.alerts.list(true).empty());
}

TEST_CASE("writes of an earlier generation are handed over too") {
  HandOver f;
  const auto id = f.unknown("lost");
  f.clock.advance(1);
  auto newer = immediate("newer");
  newer.account.generation = kAccount.generation + 1;
  f.submit(newer);
  f.hand_over();
  CHECK(f.get(id).escalated);
}

TEST_CASE("what was accepted for a connection that is gone is neither sent again nor accepted") {
  const bool gone = GENERATE(true, false);
  HandOver f;
  const auto id = f.unknown("lost");
  f.hand_over();
  f.connect(std::int64_t{kAccount.generation} + (gone ? 0 : 1), gone);
  const auto refused = f.resolve(id, WriteEvent::kOperatorResend);
  REQUIRE(std::holds_alternative<Error>(refused));
  CHECK_THAT(std::get<Error>(refused).what(), Catch::Contains("is gone") && Catch::Contains("--happened"));
  CHECK(f.get(id).state == WriteState::kUnknown);
  f.resolve(id, WriteEvent::kOperatorDiscard);
  CHECK(f.get(id).state == WriteState::kDiscarded);
}

TEST_CASE("what was accepted for the connection that there is goes on") {
  HandOver f;
  const auto id = f.unknown("lost");
  f.hand_over();
  f.connect(kAccount.generation, false);
  f.resolve(id, WriteEvent::kOperatorResend);
  CHECK(f.get(id).state == WriteState::kBuffered);
}

}  // namespace KRUXOS_TEST_FILE
