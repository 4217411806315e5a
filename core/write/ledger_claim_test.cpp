// What is asked once more when a write is claimed.
#include <catch2/catch.hpp>

#include "core/storage/statement.hpp"
#include "core/util/durations.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

constexpr std::int64_t kDelay = 30'000;

struct ClaimFixture : LedgerFixture {
  ClaimFixture() {
    ledger->ask_terms(
        [this](const WriteRecord& write) { return write.operation == "notes.add" ? now : PresentTerms{}; });
  }
  PresentTerms now;  ///< the policy

  std::string claimed() {
    std::string texts;
    for (const auto& write : take()) texts += write.params_json.substr(9, 1);
    return texts;
  }
  WriteRecord of(const WriteRecord& write) { return *ledger->get(write.write_id); }
  /// Claimed, and the attempt has ended so.
  WriteRecord attempted(const WriteRecord& write, WriteEvent event) {
    REQUIRE(take().size() == 1);
    return std::get<WriteRecord>(record(of(write), event, kDelay));
  }
  void run(const std::string& sql) {
    store.run([&](SQLite::Database& db) { db.exec(sql); });
  }
  void revoke() {
    run("INSERT INTO agents (agent_id, name, key_hash, created_at_ms, revoked_at_ms) VALUES ('agent_1', 'a', 'h', 1, " +
        std::to_string(clock.wall_ms()) + ")");
  }
  std::int64_t commits() {
    return store.run([](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT n FROM counters WHERE what = 'commit'");
      row.step();
      return row.integer(0);
    });
  }
};

}  // namespace

TEST_CASE("what needs a person's approval by now waits for it, and is asked about once") {
  ClaimFixture f;
  const auto write = f.submit(new_write("a")).write;
  f.now.asks = "Every notes.add needs a person's approval.";
  f.clock.advance(kDelay);
  CHECK(f.claimed().empty());
  const auto asked = f.of(write);
  CHECK(asked.state == State::kPendingApproval);
  CHECK(asked.approval_reason == f.now.asks);
  CHECK(asked.due_at_ms == 0);
  CHECK(asked.buffer_until_ms == 0);
  CHECK(f.ledger->counts().needs_operator == 1);
  const auto history = f.ledger->history(write.write_id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].outcome == "ask_anew");
  CHECK(history[0].who == "host");
  CHECK(history[0].message == f.now.asks);
  f.accept(asked);
  CHECK(f.claimed().empty());
  f.clock.advance(kDelay);
  CHECK(f.claimed() == "a");
}

TEST_CASE("what is blocked by now is refused, whoever has accepted it") {
  ClaimFixture f;
  auto to_be_accepted = new_write("a");
  to_be_accepted.approval_reason = "It is asked for.";
  const auto accepted = f.submit(to_be_accepted).write;
  f.accept(accepted);
  const auto other = f.submit(new_write("b")).write;
  f.now.forbids = "notes.add is blocked by now.";
  f.clock.advance(kDelay);
  CHECK(f.claimed().empty());
  for (const auto& write : {accepted, other}) {
    const auto refused = f.of(write);
    CHECK(refused.state == State::kFailed);
    CHECK(refused.error_type == ErrorCode::kOperationBlocked);
    CHECK(refused.error_message == f.now.forbids);
    CHECK(refused.attempts == 0);
    CHECK(f.ledger->history(write.write_id).back().outcome == "forbid");
  }
  CHECK(f.ledger->counts().failed == 2);
}

TEST_CASE("a limit that was tightened lets out what it would have let in") {
  ClaimFixture f;
  for (const auto* text : {"a", "b", "c"}) {
    auto write = new_write(text);
    write.limits = {{{{"notes.add"}, 10, kHour, ""}, ""}};
    f.submit(write);
    f.clock.advance(1);
  }
  f.now.limits = {{{{"notes.add"}, 2, kHour, ""}, "", false}};
  f.clock.advance(kDelay);
  CHECK(f.claimed() == "ab");
  const auto waits = f.ledger->list({.states = {State::kPendingApproval}});
  REQUIRE(waits.size() == 1);
  CHECK_THAT(waits[0].approval_reason, Catch::Contains("The limit of 2 in 1 h for notes.add is reached"));
  f.accept(waits[0]);
  f.clock.advance(kDelay);
  CHECK(f.claimed() == "c");
}

TEST_CASE("a revoked agent's write does not go out, unless a person has decided so since") {
  ClaimFixture f;
  const auto write = f.submit(new_write("a")).write;
  auto to_be_accepted = new_write("b");
  to_be_accepted.approval_reason = "It is asked for.";
  const auto waits = f.submit(to_be_accepted).write;
  auto of_other = new_write("c");
  of_other.agent_id = "agent_2";
  f.submit(of_other);
  f.revoke();
  f.accept(waits);
  f.clock.advance(kDelay);
  CHECK(f.claimed() == "bc");
  CHECK(f.of(write).state == State::kFailed);
  CHECK(f.of(write).error_type == ErrorCode::kPolicyDenied);
}

TEST_CASE("whether a person decided before or after the revocation is no matter of clocks") {
  ClaimFixture f;
  auto asked = new_write("a");
  asked.approval_reason = "It is asked for.";
  asked.send_at_ms = f.clock.wall_ms() + 3 * kHour;
  const auto write = f.submit(asked).write;
  SECTION("after it, with the clock set back in between") {
    f.revoke();
    f.clock.jump_wall(-kHour);
    f.accept(write);
    f.clock.advance(5 * kHour);
    CHECK(f.claimed() == "a");
  }
  SECTION("before it, by a clock that was ahead") {
    f.clock.jump_wall(kHour);
    f.accept(write);
    f.clock.jump_wall(-kHour);
    f.revoke();
    f.clock.advance(5 * kHour);
    CHECK(f.claimed().empty());
    CHECK(f.of(write).state == State::kFailed);
  }
}

TEST_CASE("what is stopped when it would go out of order goes before nobody") {
  ClaimFixture f;
  const auto say = [&](const std::string& text) {
    auto write = new_write(text);
    write.order = "C1";
    return f.submit(write).write;
  };
  say("a");
  const auto second = say("b");
  f.clock.advance(kDelay);
  f.record(f.take().at(0), WriteEvent::kMayBeDone, kHour);
  f.now.asks = "Every notes.add needs a person's approval.";
  f.clock.advance(6 * kMinute);
  f.take();
  CHECK(f.of(second).state == State::kPendingApproval);
  CHECK_FALSE(f.of(second).out_of_order);
}

TEST_CASE("a write that is tried again is asked about again, and is not edited any more") {
  ClaimFixture f;
  const auto write = f.submit(new_write("a")).write;
  f.clock.advance(kDelay);
  f.attempted(write, WriteEvent::kCertainlyNotDone);
  f.now.asks = "Every notes.add needs a person's approval.";
  f.clock.advance(kDelay);
  CHECK(f.claimed().empty());
  const auto asked = f.of(write);
  CHECK(asked.state == State::kPendingApproval);
  NewContent other;
  other.params_json = R"({"text":"b"})";
  const auto refused = std::get<Error>(f.edit(asked, other, "agent_1"));
  CHECK_THAT(refused.what(), Catch::Contains("can no longer be edited"));
  f.now = {};
  f.now.forbids = "notes.add is blocked by now.";
  f.accept(asked);
  f.clock.advance(kDelay);
  CHECK(f.claimed().empty());
  CHECK(f.of(write).state == State::kFailed);
}

TEST_CASE("what may have happened is not called failed: a person decides about it") {
  ClaimFixture f;
  auto harmless = new_write("a");
  harmless.when_absent = "resend";
  const LimitRule limit{{{"notes.add"}, 10, kHour, ""}, ""};
  harmless.limits = {limit};
  const auto write = f.submit(harmless).write;
  f.clock.advance(kDelay);
  const auto unknown = f.attempted(write, WriteEvent::kMayBeDone);
  f.record(unknown, WriteEvent::kEffectAbsentResend, 0, true);
  f.now.forbids = "notes.add is blocked by now.";
  CHECK(f.claimed().empty());
  const auto asked = f.of(write);
  CHECK(asked.state == State::kPendingApproval);
  CHECK(asked.irrevocable);
  CHECK(asked.approval_reason == f.now.forbids);
  SECTION("accepted, it goes out") {
    f.accept(asked);
    f.clock.advance(kDelay);
    CHECK(f.claimed() == "a");
  }
  SECTION("rejected, it is discarded, which promises nothing, and has its place in the limits") {
    const auto rejected = std::get<WriteRecord>(f.reject(asked, "not now"));
    CHECK(rejected.state == State::kDiscarded);
    CHECK(rejected.irrevocable);
    CHECK_FALSE(rejected.error_type);
    CHECK(f.ledger->limit_use("agent_1", limit).at("").counted == 1);
  }
}

TEST_CASE("a write that is stopped makes room in its lane") {
  ClaimFixture f;
  const auto say = [&](const std::string& text, const std::string& operation) {
    auto write = new_write(text, operation);
    write.order = "C1";
    return f.submit(write).write;
  };
  say("a", "notes.add");
  say("b", "notes.add");
  say("c", "notes.other");
  f.now.asks = "Every notes.add needs a person's approval.";
  f.clock.advance(kDelay);
  CHECK(f.claimed() == "c");
  CHECK(f.ledger->counts().pending_approval == 2);
}

TEST_CASE("asking costs no commit of its own") {
  ClaimFixture f;
  for (const auto* text : {"a", "b"}) {
    auto write = new_write(text);
    write.limits = {{{{"notes.add"}, 10, kHour, ""}, ""}};
    f.submit(write);
  }
  f.now.limits = {{{{"notes.add"}, 1, kHour, ""}, ""}};
  f.clock.advance(kDelay);
  const auto before = f.commits();
  CHECK(f.claimed() == "a");
  CHECK(f.commits() == before + 2);  // the claim, and the question itself
  CHECK(f.ledger->counts().pending_approval == 1);
}

TEST_CASE("what waits on its answer hears that its write was stopped") {
  ClaimFixture f;
  const auto write = f.submit(new_write("a")).write;
  std::vector<State> seen;
  const auto watching = f.ledger->observe([&](const WriteRecord& changed) { seen.push_back(changed.state); });
  f.now.asks = "Every notes.add needs a person's approval.";
  f.clock.advance(kDelay);
  f.take();
  CHECK(seen == std::vector{State::kPendingApproval});
}

}  // namespace KRUXOS_TEST_FILE
