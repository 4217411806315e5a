#include <catch2/catch.hpp>

#include "core/util/durations.hpp"
#include "core/write/ledger_fixture.hpp"
#include "core/write/write_buffer.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = LedgerFixture;
using State = WriteState;
using Event = WriteEvent;

namespace {

struct Undo : Fixture {
  /// A write that was carried out and left a point.
  WriteRecord completed(const std::string& text = "hello", bool point = true) {
    auto asked = new_write(text, "notes.move");
    asked.immediate = true;
    submit(asked);
    const auto write = take().at(0);
    if (point) ledger->keep_rollback_point(write.write_id, write.attempts, R"({"before":1})");
    return std::get<WriteRecord>(record(write, Event::kDone));
  }
  WriteRecord asked_for(const WriteRecord& write, bool force = false) {
    return std::get<Submitted>(roll_back(write.write_id, force)).write;
  }
  std::string refusal(const std::string& id, bool force = false, const std::string& agent = {}) {
    const auto answer = roll_back(id, force, agent);
    return std::holds_alternative<Error>(answer) ? std::string(std::get<Error>(answer).type().name()) : "accepted";
  }
  std::string why_not(const std::string& id) { return std::get<Error>(roll_back(id)).what(); }
};

}  // namespace

TEST_CASE("an undo is a write of its own, and takes the first one along when it is done") {
  Undo f;
  const auto write = f.completed();
  const auto undo = f.asked_for(write);
  CHECK(undo.write_id.starts_with("rb_"));
  CHECK(undo.rolls_back == write.write_id);
  CHECK(undo.summary == "undo notes.move: hello");
  CHECK(undo.decided_by == "operator:ann");
  const auto taken = f.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].write_id == undo.write_id);
  CHECK(f.ledger->get(write.write_id)->state == State::kCompleted);
  CHECK(std::get<WriteRecord>(f.record(taken[0], Event::kDone)).state == State::kCompleted);
  const auto undone = *f.ledger->get(write.write_id);
  CHECK(undone.state == State::kRolledBack);
  CHECK(undone.decided_by == "operator:ann");
  CHECK(f.ledger->history(write.write_id).back().outcome == "rolled_back");
  CHECK(f.ledger->counts().completed == 1);
  CHECK(f.refusal(write.write_id) == "RollbackConflict");
  CHECK(f.refusal(undo.write_id) == "InvalidInput");
}

TEST_CASE("an undo that fails leaves the write as it is, and may be asked for again") {
  Undo f;
  const auto write = f.completed();
  f.asked_for(write);
  f.record(f.take().at(0), Event::kRefusedForGood);
  CHECK(f.ledger->get(write.write_id)->state == State::kCompleted);
  f.asked_for(write, true);
  const auto forced = f.take().at(0);
  CHECK(is_forced(forced));
  f.record(forced, Event::kDone);
  CHECK(f.ledger->get(write.write_id)->state == State::kRolledBack);
}

TEST_CASE("an undo of unknown outcome is found by a look or decided by a person") {
  Undo f;
  const auto write = f.completed();
  f.asked_for(write);
  const auto undo = f.take().at(0);
  f.record(undo, Event::kMayBeDone, 1000);
  CHECK(f.refusal(write.write_id, true) == "RollbackConflict");
  SECTION("found") {
    f.record(undo, Event::kEffectFound, {}, true);
    CHECK(f.ledger->get(write.write_id)->state == State::kRolledBack);
  }
  SECTION("a person says that it happened") {
    f.resolve(undo.write_id, Event::kOperatorHappened);
    CHECK(f.ledger->get(write.write_id)->state == State::kRolledBack);
  }
  SECTION("a person gives it up") {
    f.resolve(undo.write_id, Event::kOperatorDiscard);
    CHECK(f.ledger->get(write.write_id)->state == State::kCompleted);
    CHECK(f.refusal(write.write_id) == "accepted");
  }
}

TEST_CASE("only one undo of a write is under way") {
  Undo f;
  const auto write = f.completed();
  const auto first = f.asked_for(write);
  const auto again = std::get<Submitted>(f.roll_back(write.write_id));
  CHECK(again.duplicate);
  CHECK(again.write.write_id == first.write_id);
  CHECK(f.refusal(write.write_id, true) == "RollbackConflict");
}

TEST_CASE("what cannot be undone says why") {
  Undo f;
  SECTION("not carried out yet") {
    CHECK(f.refusal(f.submit(new_write("a", "notes.move")).write.write_id) == "RollbackConflict");
  }
  SECTION("an operation that cannot be undone") {
    f.submit(immediate("a"));
    const auto write = f.take().at(0);
    f.record(write, Event::kDone);
    CHECK(f.refusal(write.write_id) == "InvalidInput");
  }
  SECTION("nothing was left by the adapter") {
    CHECK(f.refusal(f.completed("a", false).write_id) == "InvalidInput");
  }
  SECTION("too late") {
    const auto write = f.completed();
    f.clock.advance(kDay - 1);
    CHECK(f.ledger->drop_expired_rollback_points() == 0);
    f.clock.advance(1);
    CHECK(f.refusal(write.write_id) == "RollbackExpired");
  }
  SECTION("another agent's, or none") {
    const auto write = f.completed();
    CHECK(f.refusal(write.write_id, false, "agent_2") == "InvalidInput");
    CHECK(f.refusal("w_none") == "InvalidInput");
    CHECK(f.refusal(write.write_id, false, "agent_1") == "accepted");
  }
}

TEST_CASE("a write that cannot be undone as it is says what can be done instead") {
  Undo f;
  SECTION("it waits, so that it can be cancelled") {
    const auto why = f.why_not(f.submit(new_write("a", "notes.move")).write.write_id);
    CHECK(why ==
          "The write waits for the end of its window, so it cannot be undone. Nothing of it has happened: cancel it "
          "instead.");
  }
  SECTION("it is undone already") {
    const auto write = f.completed();
    f.asked_for(write);
    f.record(f.take().at(0), Event::kDone);
    CHECK(f.why_not(write.write_id) == "The write was executed and then undone: there is nothing left to undo.");
  }
  SECTION("its outcome is unknown, so that it cannot be cancelled") {
    f.submit(immediate("a"));
    const auto write = f.take().at(0);
    f.record(write, Event::kMayBeDone, 1000);
    CHECK_THAT(f.why_not(write.write_id),
               Catch::Contains("so it cannot be undone. Ask again when it has ended") && !Catch::Contains("cancel"));
  }
  SECTION("it never happened") {
    const auto id = f.submit(new_write("a", "notes.move")).write.write_id;
    f.cancel(id, "agent_1");
    CHECK(f.why_not(id) == "The write is already cancelled: there is nothing to undo.");
  }
}

TEST_CASE("what a person marked as happened has no error, and cannot be undone for want of a result") {
  Undo f;
  auto asked = new_write("a", "notes.move");
  asked.immediate = true;
  f.submit(asked);
  const auto write = f.take().at(0);
  f.ledger->keep_rollback_point(write.write_id, write.attempts, R"({"before":1})");
  f.record(write, Event::kMayBeDone, 1000);
  const auto happened = std::get<WriteRecord>(f.resolve(write.write_id, Event::kOperatorHappened));
  CHECK_FALSE(happened.error_type);
  CHECK(f.ledger->get(write.write_id)->error_message.empty());
  CHECK(rollback_problem(happened) == f.why_not(write.write_id));
  CHECK(undo_until_ms(happened) == 0);
  const auto done = f.completed();
  CHECK(rollback_problem(done).empty());
  CHECK(undo_until_ms(done) == done.ended_at_ms + done.rollback_ms);
  CHECK_THAT(f.why_not(write.write_id),
             Catch::Contains("marked as happened by a person") && Catch::Contains("Undo it at the service"));
  CHECK(f.refusal(write.write_id) == "InvalidInput");
}

TEST_CASE("expired points are deleted, but for one that an undo under way needs") {
  Undo f;
  const auto kept = f.completed("kept"), dropped = f.completed("dropped");
  f.clock.advance(kDay - 1);
  f.asked_for(kept);
  f.clock.advance(10);
  CHECK(f.ledger->drop_expired_rollback_points() == 1);
  CHECK(f.ledger->get(kept.write_id)->point_json == R"({"before":1})");
  CHECK(f.ledger->get(dropped.write_id)->point_json.empty());
  CHECK(undo_until_ms(*f.ledger->get(dropped.write_id)) == 0);
  f.record(f.take().at(0), Event::kDone);
  f.clock.advance(kDay);
  CHECK(f.ledger->drop_expired_rollback_points() == 1);
}

TEST_CASE("a restart takes an undo under way through the unknown door") {
  Undo f;
  const auto write = f.completed();
  const auto undo = f.asked_for(write);
  f.take();
  f.restart();
  CHECK(f.ledger->get(undo.write_id)->state == State::kUnknown);
  CHECK(f.ledger->get(write.write_id)->state == State::kCompleted);
  CHECK(f.refusal(write.write_id, true) == "RollbackConflict");
}

TEST_CASE("what is being undone does not answer for the same wish, a new write does") {
  Undo f;
  auto asked = new_write("hello", "notes.move");
  asked.immediate = true;
  const auto write = f.completed();
  CHECK(f.submit(asked).write.write_id == write.write_id);
  const auto undo = f.asked_for(write);
  const auto again = f.submit(asked);
  CHECK_FALSE(again.duplicate);
  CHECK(f.submit(asked).write.write_id == again.write.write_id);
}

}  // namespace KRUXOS_TEST_FILE
