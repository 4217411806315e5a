#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("a submitted write is read back as it was given") {
  LedgerFixture f;
  auto asked = new_write("hello");
  asked.params_shown_json = R"({"text":"as shown"})";
  asked.idempotency_key = "k1";
  asked.when_absent = "resend";
  asked.delay_ms = 5000;
  asked.settle_ms = 7000;
  const auto submitted = f.submit(asked);
  CHECK_FALSE(submitted.duplicate);
  const auto read = f.ledger->get(submitted.write.write_id);
  REQUIRE(read);
  CHECK(read->agent_id == "agent_1");
  CHECK(read->account == kAccount);
  CHECK(read->params_json == asked.params_json);
  CHECK(read->params_shown_json == asked.params_shown_json);
  CHECK(read->content_hash == content_hash(kAccount, "notes.add", asked.params_json));
  CHECK(read->idempotency_key == "k1");
  CHECK(read->when_absent == "resend");
  CHECK(read->state == WriteState::kBuffered);
  CHECK(read->due_at_ms == f.clock.wall_ms() + 5000);
  CHECK(read->buffer_until_ms == read->due_at_ms);
  CHECK(read->settle_ms == 7000);
  CHECK(read->seq == submitted.write.seq);
  CHECK_FALSE(f.ledger->get("w_none"));
}

TEST_CASE("the same intent is answered with the existing write") {
  LedgerFixture f;
  const auto first = f.submit(immediate("a")).write;
  CHECK(f.submit(immediate("a")).duplicate);
  CHECK(f.submit(immediate("a")).write.write_id == first.write_id);

  SECTION("another agent, another content, or allow_duplicate is a write of its own") {
    auto other = immediate("a");
    other.agent_id = "agent_2";
    CHECK_FALSE(f.submit(other).duplicate);
    CHECK_FALSE(f.submit(immediate("b")).duplicate);
    auto allowed = immediate("a");
    allowed.allow_duplicate = true;
    CHECK_FALSE(f.submit(allowed).duplicate);
  }
  SECTION("for ten minutes after it completed") {
    const auto taken = f.take();
    REQUIRE(taken.size() == 1);
    CHECK(f.submit(immediate("a")).duplicate);
    f.record(taken[0], WriteEvent::kDone);
    f.clock.advance(10 * 60'000);
    CHECK(f.submit(immediate("a")).duplicate);
    f.clock.advance(1);
    CHECK_FALSE(f.submit(immediate("a")).duplicate);
  }
  SECTION("while its outcome is unknown, however long") {
    f.record(f.take().at(0), WriteEvent::kMayBeDone);
    f.clock.advance(24 * 3'600'000);
    CHECK(f.submit(immediate("a")).duplicate);
  }
  SECTION("not once it was cancelled or failed") {
    f.cancel(first.write_id, "agent_1");
    const auto second = f.submit(immediate("a"));
    CHECK_FALSE(second.duplicate);
    f.record(f.take().at(0), WriteEvent::kRefusedForGood);
    CHECK_FALSE(f.submit(immediate("a")).duplicate);
  }
}

TEST_CASE("an idempotency key stands for one content") {
  LedgerFixture f;
  auto keyed = immediate("a");
  keyed.idempotency_key = "k";
  const auto first = f.submit(keyed).write;
  f.cancel(first.write_id, "agent_1");
  const auto again = f.submit(keyed);
  CHECK(again.duplicate);
  CHECK(again.write.write_id == first.write_id);
  keyed.allow_duplicate = true;
  CHECK(f.submit(keyed).duplicate);

  auto other = immediate("b");
  other.idempotency_key = "k";
  const auto error = f.refused(other);
  CHECK(error.type() == ErrorCode::kConflictError);
  CHECK(error.context_json().find(first.write_id) != std::string::npos);
  other.agent_id = "agent_2";
  CHECK_FALSE(f.submit(other).duplicate);
}

TEST_CASE("cancelling is for one's own writes that have not begun") {
  LedgerFixture f;
  const auto id = f.submit(immediate("a")).write.write_id;
  CHECK(std::get<Error>(f.cancel(id, "agent_2")).type() == ErrorCode::kInvalidInput);
  CHECK(std::get<Error>(f.cancel("w_none", "agent_1")).type() == ErrorCode::kInvalidInput);
  const auto taken = f.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].state == WriteState::kExecuting);
  const auto refused = std::get<Error>(f.cancel(id, "agent_1"));
  CHECK(refused.type() == ErrorCode::kCannotCancel);
  CHECK_FALSE(refused.retryable());
  CHECK(refused.context_json().find("executing") != std::string::npos);
  f.record(taken[0], WriteEvent::kCertainlyNotDone, 1000);
  const auto cancelled = std::get<WriteRecord>(f.cancel(id, ""));
  CHECK(cancelled.state == WriteState::kCancelled);
  CHECK(cancelled.due_at_ms == 0);
  CHECK(std::get<Error>(f.cancel(id, "agent_1")).type() == ErrorCode::kCannotCancel);
  f.clock.advance(100'000);
  CHECK(f.take().empty());
  const auto history = f.ledger->history(id);
  REQUIRE(history.size() == 2);
  CHECK(history[0].outcome == "not_done");
  CHECK(history[1].kind == "decision");
  CHECK(history[1].outcome == "cancel");
}

TEST_CASE("a write that waits for approval or is held is not claimed but can be cancelled") {
  LedgerFixture f;
  for (const auto state : {WriteState::kPendingApproval, WriteState::kHeld}) {
    auto asked = immediate(to_string(state));
    asked.admitted_as = state;
    const auto write = f.submit(asked).write;
    CHECK(write.due_at_ms == 0);
    CHECK(f.take().empty());
    CHECK(std::get<WriteRecord>(f.cancel(write.write_id, "agent_1")).state == WriteState::kCancelled);
  }
}

TEST_CASE("a window is over only when both clocks say so") {
  LedgerFixture f;
  auto asked = new_write("a");
  asked.delay_ms = 30'000;
  f.submit(asked);
  SECTION("the wall clock alone, set forward, sends nothing") {
    f.clock.jump_wall(3'600'000);
    CHECK(f.ledger->next_due_in(f.accounts, {9, 9}, {}) == 30'000);
    CHECK(f.take().empty());
    f.clock.advance(30'000);
    CHECK(f.take().size() == 1);
  }
  SECTION("set back, it keeps the write waiting") {
    f.clock.jump_wall(-10'000);
    f.clock.advance(30'000);
    CHECK(f.take().empty());
    CHECK(f.ledger->next_due_in(f.accounts, {9, 9}, {}) == 10'000);
    f.clock.advance(10'000);
    CHECK(f.ledger->next_due_in(f.accounts, {9, 9}, {}) == 0);
    CHECK(f.take().size() == 1);
  }
  SECTION("after a reboot the wall clock decides") {
    f.clock.jump_wall(30'000);
    f.restart("boot-2");
    CHECK(f.take().size() == 1);
  }
  SECTION("after a mere restart both still count") {
    f.clock.jump_wall(30'000);
    f.restart("boot-1");
    CHECK(f.take().empty());
  }
}

TEST_CASE("only what belongs to the named accounts and generations is taken") {
  LedgerFixture f;
  f.submit(immediate("a"));
  CHECK(f.ledger->take(std::vector<AccountRef>{{"notes", "N1", 2}}, {10, 10}, {}).empty());
  CHECK(f.ledger->take(std::vector<AccountRef>{{"notes", "N2", 1}}, {10, 10}, {}).empty());
  CHECK(f.ledger->take(std::vector<AccountRef>{{"other", "N1", 1}}, {10, 10}, {}).empty());
  CHECK(f.ledger->take({}, {10, 10}, {}).empty());
  CHECK_FALSE(f.ledger->next_due_in({}, {9, 9}, {}));
  CHECK(f.take().size() == 1);
}

TEST_CASE("what is taken comes in the order of its time, no more than asked for, and without what is busy") {
  LedgerFixture f;
  std::vector<std::int64_t> seqs;
  for (const int delay : {3000, 1000, 2000, 4000}) {
    auto w = new_write("d" + std::to_string(delay));
    w.delay_ms = delay;
    seqs.push_back(f.submit(w).write.seq);
  }
  f.clock.advance(3500);
  const auto taken = f.take(2, {seqs[1]});
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].seq == seqs[2]);
  CHECK(taken[1].seq == seqs[0]);
  CHECK(taken[0].attempts == 1);
  CHECK(taken[0].first_attempt_at_ms == f.clock.wall_ms());
  CHECK(f.take(10, {seqs[1]}).empty());
  CHECK(f.take(10).size() == 1);
  CHECK(f.ledger->next_due_in(f.accounts, {9, 9}, {}) == 500);
}

TEST_CASE("a restart makes every executing write unknown and starts the settle times again") {
  LedgerFixture f;
  f.submit(immediate("a"));
  f.submit(immediate("b"));
  const auto taken = f.take();
  f.record(taken[1], WriteEvent::kMayBeDone, 60'000);
  f.clock.advance(59'000);
  f.restart();
  for (const auto& write : taken) {
    const auto now = *f.ledger->get(write.write_id);
    CHECK(now.state == WriteState::kUnknown);
    CHECK(now.due_at_ms == f.clock.wall_ms() + 60'000);
  }
  CHECK(f.ledger->history(taken[0].write_id).at(0).outcome == "host_started");
  SECTION("what the earlier run reports is not believed") {
    CHECK(std::get<Error>(f.record(taken[0], WriteEvent::kDone)).type() == ErrorCode::kConflictError);
    CHECK_FALSE(f.ledger->keep_note(taken[0].write_id, 1, "{}"));
  }
  SECTION("each is looked for once its time is over") {
    f.clock.advance(59'999);
    CHECK(f.take().empty());
    f.clock.advance(1);
    const auto looks = f.take();
    REQUIRE(looks.size() == 2);
    CHECK(looks[0].state == WriteState::kUnknown);
    CHECK(f.ledger->get(looks[0].write_id)->state == WriteState::kUnknown);
  }
}

TEST_CASE("a look says nothing about a later attempt") {
  LedgerFixture f;
  const auto id = f.submit(immediate("a")).write.write_id;
  f.record(f.take().at(0), WriteEvent::kMayBeDone, 0);
  const auto looked_for = f.take().at(0);
  f.record(looked_for, WriteEvent::kEffectAbsentAsk, {}, true);
  REQUIRE(f.ledger->get(id)->escalated);
  f.resolve(id, WriteEvent::kOperatorResend);
  SECTION("found before the write is claimed again: it has happened") {
    CHECK(std::get<WriteRecord>(f.record(looked_for, WriteEvent::kEffectFound, {}, true)).state ==
          WriteState::kCompleted);
  }
  SECTION("found after the claim: the new attempt counts") {
    f.take();
    CHECK(std::get<Error>(f.record(looked_for, WriteEvent::kEffectFound, {}, true)).type() ==
          ErrorCode::kConflictError);
  }
  SECTION("sent again, it can no longer be cancelled, only discarded") {
    CHECK(std::get<Error>(f.cancel(id, "agent_1")).type() == ErrorCode::kCannotCancel);
    CHECK(std::get<WriteRecord>(f.resolve(id, WriteEvent::kOperatorDiscard)).state == WriteState::kDiscarded);
  }
}

TEST_CASE("points and notes belong to the running attempt") {
  LedgerFixture f;
  const auto id = f.submit(immediate("a")).write.write_id;
  CHECK_THROWS_AS(f.ledger->keep_rollback_point(id, 1, "{}"), Error);
  f.take();
  f.ledger->keep_rollback_point(id, 1, R"({"first":1})");
  f.ledger->keep_rollback_point(id, 1, R"({"second":1})");
  CHECK(f.ledger->get(id)->point_json == R"({"first":1})");
  CHECK(f.ledger->keep_note(id, 1, R"({"draft":"d1"})"));
  CHECK(f.ledger->keep_note(id, 1, R"({"draft":"d2"})"));
  CHECK(f.ledger->get(id)->note_json == R"({"draft":"d2"})");
  CHECK_FALSE(f.ledger->keep_note(id, 2, "{}"));
  CHECK_FALSE(f.ledger->keep_note(id, 1, "[1]"));
  CHECK_FALSE(f.ledger->keep_note(id, 1, "{\"a\":"));
  CHECK_FALSE(f.ledger->keep_note(id, 1, "{\"a\":\"\xff\"}"));
  CHECK_FALSE(f.ledger->keep_note(id, 1, "{\"a\":\"" + std::string(64 * 1024, 'x') + "\"}"));
  CHECK(f.ledger->get(id)->note_json == R"({"draft":"d2"})");
}

TEST_CASE("an idempotency key of an earlier connection is told as that") {
  LedgerFixture f;
  auto asked = new_write("a");
  asked.idempotency_key = "k1";
  const auto before = f.submit(asked).write;
  asked.account.generation += 1;
  const auto refused = f.refused(asked);
  CHECK(refused.type() == ErrorCode::kConflictError);
  CHECK_THAT(refused.what(), Catch::Contains(before.write_id) && Catch::Contains("earlier connection"));
}

}  // namespace KRUXOS_TEST_FILE
