// Approvals whose time is over.
#include <catch2/catch.hpp>

#include "core/write/copies_test_fixture.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

constexpr std::int64_t kTwoHours = 2 * 3'600'000;

NewWrite asked(const std::string& text, std::int64_t for_ms = kTwoHours) {
  auto write = immediate(text);
  write.approval_reason = "Each one is asked about.";
  write.approval_ms = for_ms;
  return write;
}

}  // namespace

TEST_CASE("what nobody decides in time is rejected, and its agent is told") {
  LedgerFixture f;
  const auto write = f.submit(asked("a")).write;
  const auto patient = f.submit(asked("b", 0)).write;
  CHECK(write.approval_until_ms == f.clock.wall_ms() + kTwoHours);
  CHECK(patient.approval_until_ms == 0);
  f.clock.advance(kTwoHours - 1);
  CHECK(f.ledger->expire_approvals() == 0);
  f.clock.advance(1);
  std::vector<std::string> told;
  const auto observing = f.ledger->observe([&](const WriteRecord& w) { told.push_back(w.write_id); });
  CHECK(f.ledger->expire_approvals() == 1);
  CHECK(f.ledger->expire_approvals() == 0);
  const auto ended = f.ledger->get(write.write_id);
  CHECK(ended->state == WriteState::kRejected);
  CHECK(ended->decided_by == "host");
  CHECK(ended->error_type == ErrorCode::kApprovalRejected);
  CHECK_THAT(ended->error_message, Catch::Contains("Nobody decided"));
  CHECK(ended->approval_until_ms == 0);
  CHECK(told == std::vector<std::string>{write.write_id});
  CHECK(f.ledger->history(write.write_id).back().outcome == "expire");
  CHECK(f.ledger->get(patient.write_id)->state == WriteState::kPendingApproval);
  CHECK(f.ledger->counts().pending_approval == 1);
}

TEST_CASE("what has expired is not accepted, though the host has not looked yet") {
  LedgerFixture f;
  const auto write = f.submit(asked("a")).write;
  f.clock.advance(kTwoHours);
  const auto answer = f.accept(write);
  REQUIRE(std::holds_alternative<Error>(answer));
  CHECK(std::get<Error>(answer).type() == ErrorCode::kConflictError);
  CHECK(f.ledger->get(write.write_id)->state == WriteState::kPendingApproval);
  CHECK(f.ledger->expire_approvals() == 1);
}

TEST_CASE("what was accepted in time does not expire") {
  LedgerFixture f;
  const auto write = f.submit(asked("a")).write;
  REQUIRE(std::holds_alternative<WriteRecord>(f.accept(write)));
  CHECK(f.ledger->get(write.write_id)->approval_until_ms == 0);
  f.clock.advance(2 * kTwoHours);
  CHECK(f.ledger->expire_approvals() == 0);
  CHECK(f.take().size() == 1);
}

TEST_CASE("an approval's time outlasts a restart, and an edit by its agent begins it anew") {
  LedgerFixture f;
  const auto write = f.submit(asked("a")).write;
  f.clock.advance(kTwoHours / 2);
  f.restart();
  NewContent content;
  static_cast<WriteContent&>(content) = static_cast<const WriteContent&>(asked("b"));
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(*f.ledger->get(write.write_id), content, write.agent_id)));
  f.clock.advance(kTwoHours - 1);
  CHECK(f.ledger->expire_approvals() == 0);
  f.clock.advance(1);
  f.restart();
  CHECK(f.ledger->expire_approvals() == 1);
}

TEST_CASE("more than are ended at once expire in steps") {
  LedgerFixture f;
  for (int i = 0; i < 100; ++i) f.submit(asked("n" + std::to_string(i)));
  auto other = asked("other");
  other.agent_id = "agent_2";
  f.submit(other);
  f.clock.advance(kTwoHours);
  CHECK(f.ledger->expire_approvals() == 100);
  CHECK(f.ledger->expire_approvals() == 1);
  CHECK(f.ledger->counts().pending_approval == 0);
}

TEST_CASE("what may have happened, and a copy, do not expire, and can still be accepted once they may go on") {
  LedgerFixture f;
  const auto write = f.submit(asked("a")).write;
  REQUIRE(hold_all(f.store, f.clock) == 1);
  f.clock.advance(2 * kTwoHours);
  CHECK(f.ledger->expire_approvals() == 0);
  REQUIRE(std::holds_alternative<WriteRecord>(f.looked(*f.ledger->get(write.write_id), "absent")));
  REQUIRE(std::holds_alternative<WriteRecord>(
      f.decide_copied(*f.ledger->get(write.write_id), WriteEvent::kOperatorRelease, "absent")));
  const auto released = *f.ledger->get(write.write_id);
  REQUIRE(released.state == WriteState::kPendingApproval);
  CHECK(released.irrevocable);
  CHECK(f.ledger->expire_approvals() == 0);
  CHECK(std::holds_alternative<WriteRecord>(f.accept(released)));
}

}  // namespace KRUXOS_TEST_FILE
