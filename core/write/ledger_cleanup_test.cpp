// What the ledger makes of a write's end when its attempts have left something.
#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

constexpr std::int64_t kSettle = 60'000;

NewWrite posted(const std::string& text) {
  auto write = new_write(text, "notes.post");
  write.immediate = true;
  return write;
}

struct Posted : LedgerFixture {
  WriteRecord write;

  explicit Posted(const char* wire = "answered") {
    submit(posted("a"));
    write = take().at(0);
    ended(WriteEvent::kCertainlyNotDone, wire);
  }
  void ended(WriteEvent event, const char* wire, std::optional<std::int64_t> due = 60'000) {
    WriteReport report;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = event;
    report.wire = wire;
    report.due_in_ms = due;
    report.error_message = "Refused.";
    Answer<WriteRecord> answer;
    ledger->record(report, answer.slot());
    answer.wait();
  }
  Cleanup cleanup() { return ledger->get(write.write_id)->cleanup; }
  WriteRecord cleaning() { return *ledger->cleanup_of(write.write_id); }
};

}  // namespace

TEST_CASE("what is asked about anew after an attempt, and rejected then, is cleaned up") {
  Posted f;
  f.ledger->ask_terms([](const WriteRecord&) { return PresentTerms{{}, "Every notes.post is asked about.", {}}; });
  f.clock.advance(60'000);
  CHECK(f.take().empty());
  const auto rejected = std::get<WriteRecord>(f.reject(f.write, "no"));
  CHECK(rejected.state == WriteState::kRejected);
  CHECK(rejected.cleanup == Cleanup::kPending);
  const auto taken = f.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].cleans == f.write.write_id);
  f.record(taken[0], WriteEvent::kDone);
  CHECK(f.cleanup() == Cleanup::kDone);
}

TEST_CASE("what is cancelled after an attempt is cleaned up by a write of its own, in the same step") {
  Posted f;
  CHECK(f.cleanup() == Cleanup::kPossible);
  const auto cancelled = std::get<WriteRecord>(f.cancel(f.write.write_id, "agent_1"));
  CHECK(cancelled.state == WriteState::kCancelled);
  CHECK(cancelled.cleanup == Cleanup::kPending);
  const auto cleaning = f.cleaning();
  CHECK(cleaning.write_id.starts_with("cu_"));
  CHECK(cleaning.cleans == f.write.write_id);
  CHECK(cleaning.operation == kCleanupOperation);
  CHECK(cleaning.agent_id == "agent_1");
  CHECK(cleaning.state == WriteState::kBuffered);
  CHECK(cleaning.due_at_ms == f.clock.wall_ms());
  const auto taken = f.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].write_id == cleaning.write_id);
  SECTION("done") {
    f.record(taken[0], WriteEvent::kDone);
    CHECK(f.cleanup() == Cleanup::kDone);
    CHECK(f.ledger->get(f.write.write_id)->state == WriteState::kCancelled);
  }
  SECTION("refused for good: it is left, and the operator hears of it") {
    f.record(taken[0], WriteEvent::kRefusedForGood);
    CHECK(f.cleanup() == Cleanup::kLeft);
    const auto alerts = AlertStore(f.store, f.clock).list(true);
    REQUIRE(alerts.size() == 1);
    CHECK(alerts[0].kind == "left_behind");
    CHECK(alerts[0].write_id == f.write.write_id);
  }
  SECTION("a person gives it up") {
    f.record(taken[0], WriteEvent::kScheduleUsedUp);
    CHECK(f.cleanup() == Cleanup::kPending);
    f.resolve(cleaning.write_id, WriteEvent::kOperatorDiscard);
    CHECK(f.cleanup() == Cleanup::kLeft);
  }
  SECTION("a start of the host finds it under way") {
    f.restart();
    CHECK(f.cleanup() == Cleanup::kPending);
    CHECK(f.ledger->get(cleaning.write_id)->state == WriteState::kUnknown);
  }
}

TEST_CASE("an agent cannot stop what its cancelling has begun, an operator can") {
  Posted f;
  f.cancel(f.write.write_id, "agent_1");
  const auto id = f.cleaning().write_id;
  CHECK(std::get<Error>(f.cancel(id, "agent_1")).type() == ErrorCode::kCannotCancel);
  CHECK(f.cleanup() == Cleanup::kPending);
  CHECK(std::holds_alternative<WriteRecord>(f.cancel(id, "")));
  CHECK(f.cleanup() == Cleanup::kLeft);
}

TEST_CASE("a write that is refused for good or discarded is cleaned up too") {
  Posted f;
  f.clock.advance(60'000);
  f.write = f.take().at(0);
  std::int64_t wait = 0;
  if (GENERATE(false, true)) {
    f.ended(WriteEvent::kRefusedForGood, "answered", {});
    CHECK(f.ledger->get(f.write.write_id)->state == WriteState::kFailed);
  } else {
    f.ended(WriteEvent::kMayBeDone, "open");
    f.resolve(f.write.write_id, WriteEvent::kOperatorDiscard);
    wait = kSettle;  // a request of it could be under way
  }
  CHECK(f.cleanup() == Cleanup::kPending);
  CHECK(f.cleaning().due_at_ms == f.clock.wall_ms() + wait);
}

TEST_CASE("nothing is cleaned up where nothing can have been made") {
  SECTION("never attempted") {
    LedgerFixture f;
    const auto id = f.submit(new_write("a", "notes.post")).write.write_id;
    CHECK(std::get<WriteRecord>(f.cancel(id, "agent_1")).cleanup == Cleanup::kPossible);
    CHECK_FALSE(f.ledger->cleanup_of(id));
  }
  SECTION("nothing was given to a socket") {
    Posted f("nothing_sent");
    f.cancel(f.write.write_id, "agent_1");
    CHECK_FALSE(f.ledger->cleanup_of(f.write.write_id));
  }
  SECTION("it was carried out") {
    Posted f;
    f.clock.advance(60'000);
    f.record(f.take().at(0), WriteEvent::kDone);
    CHECK_FALSE(f.ledger->cleanup_of(f.write.write_id));
  }
  SECTION("an operation that makes nothing before its effect") {
    LedgerFixture f;
    const auto id = f.submit(immediate("a")).write.write_id;
    f.record(f.take().at(0), WriteEvent::kCertainlyNotDone, 60'000);
    f.cancel(id, "agent_1");
    CHECK_FALSE(f.ledger->cleanup_of(id));
  }
}

TEST_CASE("a disconnection that waits no longer leaves what nobody can take away any more") {
  Posted f;
  SECTION("before its cleanup has begun") {
    f.cancel(f.write.write_id, "agent_1");
  }
  SECTION("before anybody has cancelled it") {}
  f.ledger->hand_over("notes", "N1", "operator:ann");
  CHECK(f.cleanup() == Cleanup::kLeft);
  CHECK(f.take().empty());
}

}  // namespace KRUXOS_TEST_FILE
