// Undoing, with the executor and a scripted adapter.
#include <catch2/catch.hpp>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = ExecutorFixture;
using State = WriteState;

namespace {

/// A completed write, and a host that still runs.
struct Done : Fixture {
  Host host{scratch.path(), clock};
  WriteRecord write;

  Done() {
    host.serve(adapter);
    write = host.until(host.submit(at_once("hello", "notes.move")).write_id, State::kCompleted);
  }
  std::string roll_back(bool force = false) {
    return std::get<Submitted>(host.roll_back(write.write_id, force)).write.write_id;
  }
  State state() { return host.buffer.ledger.get(write.write_id)->state; }
};

CallResult<std::string> conflicting(const CallContextPtr&, const RollbackRequest& request) {
  if (request.force) return std::string(R"({"status":"ok"})");
  return CallFailure{KRUX_CONFLICT, true, ErrorCode::kRollbackConflict, "Somebody changed it.", {}};
}

}  // namespace

TEST_CASE("the adapter is given the write that it undoes") {
  Done f;
  RollbackRequest seen;
  f.adapter->on_rollback = [&](const CallContextPtr& call, const RollbackRequest& request) -> CallResult<std::string> {
    seen = request;
    answered_request(call);
    return std::string(R"({"status":"ok"})");
  };
  const auto id = f.roll_back();
  f.host.until(id, State::kCompleted);
  CHECK(f.state() == State::kRolledBack);
  CHECK(seen.rollback_id == id);
  CHECK(seen.operation == "notes.move");
  CHECK(seen.params_json == R"({"text":"hello"})");
  CHECK(seen.point_json == R"({"before":1})");
  CHECK(seen.result_json == R"({"ok":true})");
  CHECK_FALSE(seen.force);
}

TEST_CASE("a conflict changes nothing, and force overrides it") {
  Done f;
  f.adapter->on_rollback = conflicting;
  const auto refused = f.host.until(f.roll_back(), State::kFailed);
  CHECK(refused.error_type == ErrorCode::kRollbackConflict);
  CHECK(refused.error_message == "Somebody changed it.");
  CHECK(f.state() == State::kCompleted);
  f.host.until(f.roll_back(true), State::kCompleted);
  CHECK(f.state() == State::kRolledBack);
}

TEST_CASE("an undo whose answer is lost is looked for, and goes to a person when it is not found") {
  Done f;
  std::atomic<int> calls{0};
  f.adapter->on_rollback = [&](const CallContextPtr& call, const RollbackRequest&) {
    ++calls;
    return lost(call);
  };
  EffectFound found = kFound;
  SECTION("found") {}
  SECTION("absent") {
    found = kAbsent;
  }
  f.adapter->on_find_rollback = [&](const CallContextPtr&, const RollbackRequest& request) -> CallResult<EffectFound> {
    CHECK(request.operation == "notes.move");
    return found;
  };
  const auto id = f.roll_back();
  f.host.until(id, State::kUnknown);
  f.host.quiet();
  f.clock.advance(60'000);
  if (found.answer == EffectFound::Answer::kFound) {
    f.host.until(id, State::kCompleted);
    CHECK(f.state() == State::kRolledBack);
  } else {
    f.host.until_told(id);
    CHECK(f.state() == State::kCompleted);
    f.host.resolve(id, WriteEvent::kOperatorHappened);
    CHECK(f.state() == State::kRolledBack);
  }
  CHECK(calls == 1);
}

TEST_CASE("an undo that certainly did not happen is tried again on the schedule") {
  Done f;
  std::atomic<int> calls{0};
  f.adapter->on_rollback = [&](const CallContextPtr& call, const RollbackRequest&) -> CallResult<std::string> {
    answered_request(call);
    if (++calls == 1) return CallFailure{KRUX_RATE_LIMITED, true, {}, "later", 5000};
    return std::string("{}");
  };
  const auto id = f.roll_back();
  f.host.until(id, State::kDeadLetter);
  f.host.quiet();
  f.clock.advance(5250);
  f.host.until(id, State::kCompleted);
  CHECK(f.state() == State::kRolledBack);
}

TEST_CASE("an executor that is idle deletes expired points") {
  Done f;
  f.host.quiet();
  f.clock.advance(24 * 3'600'000);
  f.host.quiet();
  for (int i = 0; i < 20 && !f.host.buffer.ledger.get(f.write.write_id)->point_json.empty(); ++i) {
    f.clock.advance(600'000);
    f.host.quiet();
  }
  CHECK(f.host.buffer.ledger.get(f.write.write_id)->point_json.empty());
}

}  // namespace KRUXOS_TEST_FILE
