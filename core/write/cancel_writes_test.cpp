#include "core/write/cancel_writes.hpp"

#include <catch2/catch.hpp>

#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  WriteBuffer buffer{store, clock, "boot-1"};

  WriteRecord submit(NewWrite write) {
    Answer<Submitted> answer;
    buffer.ledger.submit(std::move(write), answer.slot());
    return answer.value().write;
  }
  WriteRecord submit(const std::string& text, WriteState state, const std::string& agent = "agent_1") {
    auto write = new_write(text);
    write.agent_id = agent;
    write.admitted_as = state;
    return submit(std::move(write));
  }
  /// One whose execution has begun.
  WriteRecord begun(const std::string& text, const std::string& operation = "notes.add") {
    auto write = new_write(text, operation);
    write.immediate = true;
    const auto id = submit(std::move(write)).write_id;
    buffer.ledger.take({kAccount}, {10, 10}, {});
    REQUIRE(state(id) == WriteState::kExecuting);
    return *buffer.ledger.get(id);
  }
  void record(const WriteRecord& write, WriteEvent event, bool look = false) {
    WriteReport report;
    report.of = look ? WriteReport::Of::kLook : WriteReport::Of::kAttempt;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = event;
    report.due_in_ms = 60'000;
    Answer<WriteRecord> answer;
    buffer.ledger.record(report, answer.slot());
    answer.value();
  }
  WriteState state(const std::string& id) { return buffer.ledger.get(id)->state; }
};

}  // namespace

TEST_CASE("an agent's writes are cancelled where they can be, and counted where they cannot") {
  Fixture f;
  const auto dead = f.begun("failed");
  f.record(dead, WriteEvent::kCertainlyNotDone);
  const auto unknown = f.begun("lost");
  f.record(unknown, WriteEvent::kMayBeDone);
  const auto closed = f.begun("may have happened");
  f.record(closed, WriteEvent::kMayBeDone);
  f.record(closed, WriteEvent::kEffectAbsentResend, true);
  const auto done = f.begun("done");
  f.record(done, WriteEvent::kDone);
  const auto executing = f.begun("under way");
  const auto approval = f.submit("approval", WriteState::kPendingApproval);
  const auto held = f.submit("held", WriteState::kHeld);
  const auto buffered = f.submit("buffered", WriteState::kBuffered);
  const auto others = f.submit("another's", WriteState::kBuffered, "agent_2");

  const auto result = cancel_writes_of(f.buffer.ledger, "agent_1", "operator:ann");
  CHECK(result.cancelled == 4);
  CHECK(result.left == 3);
  for (const auto& write : {dead, approval, held, buffered}) {
    INFO(write.summary);
    CHECK(f.state(write.write_id) == WriteState::kCancelled);
    CHECK(f.buffer.ledger.get(write.write_id)->decided_by == "operator:ann");
  }
  CHECK(f.state(executing.write_id) == WriteState::kExecuting);
  CHECK(f.state(unknown.write_id) == WriteState::kUnknown);
  CHECK(f.buffer.ledger.get(closed.write_id)->irrevocable);
  CHECK(f.state(closed.write_id) == WriteState::kBuffered);
  CHECK(f.state(done.write_id) == WriteState::kCompleted);
  CHECK(f.state(others.write_id) == WriteState::kBuffered);

  const auto again = cancel_writes_of(f.buffer.ledger, "agent_1", "operator:ann");
  CHECK(again.cancelled == 0);
  CHECK(again.left == 3);
}

TEST_CASE("more writes than a page holds are cancelled") {
  Fixture f;
  for (int i = 0; i < 1001; ++i) {
    f.submit("text " + std::to_string(i), i % 2 ? WriteState::kBuffered : WriteState::kHeld);
  }
  const auto result = cancel_writes_of(f.buffer.ledger, "agent_1", "operator:ann");
  CHECK(result.cancelled == 1001);
  CHECK(result.left == 0);
  CHECK(f.buffer.ledger.counts().buffered == 0);
  CHECK(f.buffer.ledger.counts().held == 0);
}

TEST_CASE("what a cancelling has begun to take back goes on") {
  Fixture f;
  const auto made = f.begun("made something", "notes.post");
  f.record(made, WriteEvent::kCertainlyNotDone);
  const auto result = cancel_writes_of(f.buffer.ledger, "agent_1", "operator:ann");
  CHECK(result.cancelled == 1);
  CHECK(result.left == 1);
  CHECK(f.buffer.ledger.get(made.write_id)->cleanup == Cleanup::kPending);
  CHECK(f.state(f.buffer.ledger.cleanup_of(made.write_id)->write_id) == WriteState::kBuffered);
}

}  // namespace KRUXOS_TEST_FILE
