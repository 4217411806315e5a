// What a start of the host makes of writes that an earlier run left, and what it leaves alone.
#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

NewWrite undoable(const std::string& text) {
  auto write = new_write(text, "notes.move");
  write.immediate = true;
  return write;
}

}  // namespace

TEST_CASE("an attempt stands in the history while it runs, and as it was once it has ended") {
  LedgerFixture f;
  const auto id = f.submit(immediate("a")).write.write_id;
  f.clock.advance(1000);
  const auto begun = f.clock.wall_ms();
  const auto taken = f.take();
  auto history = f.ledger->history(id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].kind == "attempt");
  CHECK(history[0].number == 1);
  CHECK(history[0].started_at_ms == begun);
  CHECK(history[0].ended_at_ms == 0);
  CHECK(history[0].outcome.empty());
  CHECK(f.ledger->totals(id).attempts == 1);

  f.clock.advance(1000);
  f.record(taken.at(0), WriteEvent::kCertainlyNotDone, 1000);
  history = f.ledger->history(id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].started_at_ms == begun);
  CHECK(history[0].ended_at_ms == begun + 1000);
  CHECK(history[0].outcome == "not_done");
  f.clock.advance(1000);
  f.take();
  history = f.ledger->history(id);
  REQUIRE(history.size() == 2);
  CHECK(history[1].number == 2);
  CHECK(f.ledger->history(id, 1).at(0).number == 2);
  CHECK(f.ledger->totals(id).attempts == 2);
}

TEST_CASE("an attempt whose call never began is looked for at a start, tried again, and asks nobody") {
  LedgerFixture f;
  const auto id = f.submit(undoable("a")).write.write_id;
  auto taken = f.take().at(0);
  SECTION("killed before the rollback point was stored") {
    f.restart();
    const auto now = *f.ledger->get(id);
    CHECK(now.state == WriteState::kDeadLetter);
    CHECK(now.tries == 0);
    const auto last = f.ledger->history(id).back();
    CHECK(last.outcome == "not_done");
    CHECK(last.wire == "nothing_sent");
    taken = f.take().at(0);  // at once: this ledger may be a copy, whose original went on
    CHECK(taken.state == WriteState::kDeadLetter);
    CHECK(taken.reconcile_first);
    SECTION("and found") {
      const auto found = std::get<WriteRecord>(f.record(taken, WriteEvent::kEffectFound, {}, true));
      CHECK(found.state == WriteState::kCompleted);
      CHECK(found.error_message.empty());
      return;
    }
    SECTION("and looked for over a further start") {
      f.restart();
      CHECK(f.take().at(0).reconcile_first);
    }
    f.record(taken, WriteEvent::kFirstReconcileOver, 0, true);
    taken = f.take().at(0);
    CHECK(taken.state == WriteState::kExecuting);
    CHECK(taken.attempts == 2);
    SECTION("and once more in its second attempt") {
      f.restart();
      CHECK(f.ledger->get(id)->state == WriteState::kDeadLetter);
    }
    SECTION("or cancelled") {
      f.restart();
      CHECK(std::get<WriteRecord>(f.cancel(id, "agent_1")).state == WriteState::kCancelled);
    }
  }
  SECTION("after a power cut nobody knows whether the mark of a call is lost") {
    f.restart("boot-2");
    CHECK(f.ledger->get(id)->state == WriteState::kUnknown);
  }
  SECTION("killed after it: the call may have begun") {
    f.ledger->keep_rollback_point(id, 1, GENERATE(as<std::string>{}, R"({"before":1})", "", "{}"));
    f.restart();
    CHECK(f.ledger->get(id)->state == WriteState::kUnknown);
  }
  SECTION("a later attempt has its point already") {
    f.ledger->keep_rollback_point(id, 1, "{}");
    f.record(taken, WriteEvent::kCertainlyNotDone, 0);
    REQUIRE(f.take().size() == 1);
    f.restart();
    CHECK(f.ledger->get(id)->state == WriteState::kUnknown);
  }
}

TEST_CASE("what is harmless to repeat, and was claimed and not begun, is tried again without a look") {
  LedgerFixture f;
  auto write = undoable("a");
  write.when_absent = "resend";
  f.submit(write);
  REQUIRE(f.take().size() == 1);
  f.restart();
  CHECK(f.take().at(0).state == WriteState::kExecuting);
}

TEST_CASE("what once waited for the connection does so no more when it was claimed or handed over since") {
  LedgerFixture f;
  f.submit(immediate("a"));
  const auto write = f.take().at(0);
  const auto waits = [&](WriteReport::Of of, WriteEvent event) {
    WriteReport report;
    report.of = of;
    report.write_id = write.write_id;
    report.attempt = 1;
    report.event = event;
    report.due_in_ms = 960'000;
    report.waits_for_connection = true;
    Answer<WriteRecord> answer;
    f.ledger->record(report, answer.slot());
    return answer.value();
  };
  const auto due = [&] { return f.ledger->get(write.write_id)->due_at_ms; };
  SECTION("claimed, and taken over by a further start") {
    waits(WriteReport::Of::kAttempt, WriteEvent::kCertainlyNotDone);
    f.ledger->connection_restored(kAccount);
    REQUIRE(f.take().size() == 1);
    f.restart();
    const auto settled = due();
    CHECK(settled == f.clock.wall_ms() + 60'000);
    f.ledger->connection_restored(kAccount);
    CHECK(due() == settled);
  }
  SECTION("handed over while it was looked for") {
    waits(WriteReport::Of::kAttempt, WriteEvent::kMayBeDone);
    waits(WriteReport::Of::kLook, WriteEvent::kEffectUnclear);
    f.ledger->hand_over(kAccount.service, kAccount.account_id, "operator:ann");
    f.ledger->connection_restored(kAccount);
    CHECK(due() == 0);
  }
}

TEST_CASE("a claim that nobody was called for is tried again, whatever the operation") {
  LedgerFixture f;
  f.submit(immediate("a"));
  f.submit(immediate("b"));
  const auto taken = f.take();
  CHECK(f.ledger->recover(false, {}, {taken[1].seq}) == 1);
  CHECK(f.ledger->get(taken[0].write_id)->state == WriteState::kDeadLetter);
  CHECK(f.ledger->get(taken[1].write_id)->state == WriteState::kExecuting);
}

TEST_CASE("starts in a row put no look off and make none come sooner") {
  LedgerFixture f;
  f.submit(immediate("a"));
  f.submit(immediate("b"));
  const auto taken = f.take();
  const auto due = [&](int i) { return f.ledger->get(taken[static_cast<std::size_t>(i)].write_id)->due_at_ms; };
  f.record(taken[0], WriteEvent::kMayBeDone, 60'000);
  f.restart();  // b is of unknown outcome too now
  const auto settled = f.clock.wall_ms() + 60'000;
  for (int i = 0; i < 4; ++i) {
    f.clock.advance(10'000);
    f.restart();
  }
  CHECK(due(0) == settled);
  CHECK(due(1) == settled);
  f.clock.advance(20'000);
  f.record(taken[0], WriteEvent::kEffectUnclear, 120'000, true);
  const auto next = due(0);
  for (int i = 0; i < 4; ++i) f.restart();
  f.ledger->connection_restored(kAccount);
  CHECK(due(0) == next);
  CHECK(f.ledger->get(taken[0].write_id)->looks == 1);
}

TEST_CASE("a write that a person was told of is not looked at again because of a start") {
  LedgerFixture f;
  f.submit(immediate("a"));
  const auto write = f.take().at(0);
  f.record(write, WriteEvent::kMayBeDone, 0);
  f.record(write, WriteEvent::kLooksUsedUp, 960'000, true);
  const auto due = f.ledger->get(write.write_id)->due_at_ms;
  f.restart();
  f.ledger->connection_restored(kAccount);
  CHECK(f.ledger->get(write.write_id)->due_at_ms == due);
  CHECK(f.take().empty());
}

TEST_CASE("an outcome counts only in the run of the host that claimed the attempt") {
  LedgerFixture f;
  f.submit(immediate("a"));
  const auto write = f.take().at(0);
  f.ledger.reset();
  f.ledger = std::make_unique<Ledger>(f.store, f.clock, "boot-1");  // another run, which has not recovered yet
  CHECK(std::get<Error>(f.record(write, WriteEvent::kDone)).type() == ErrorCode::kConflictError);
  CHECK(f.ledger->get(write.write_id)->state == WriteState::kExecuting);
  CHECK_FALSE(f.ledger->keep_note(write.write_id, 1, "{}"));
  CHECK_THROWS_AS(f.ledger->keep_rollback_point(write.write_id, 1, "{}"), Error);
}

}  // namespace KRUXOS_TEST_FILE
