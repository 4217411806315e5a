// What happens to writes of which nobody can say whether they happened.
#include <atomic>
#include <catch2/catch.hpp>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = ExecutorFixture;
using State = WriteState;

namespace {

/// Submits a write whose outcome becomes unknown, and lets its settle time pass.
std::string lose_and_settle(Fixture& f, Host& host) {
  host.serve(f.adapter);
  auto id = host.submit(at_once("hello")).write_id;
  host.until(id, State::kUnknown);
  host.quiet();
  f.clock.advance(60'000);
  return id;
}

}  // namespace

TEST_CASE("an effect whose answer was lost is found and not repeated") {
  Fixture f;
  f.answers({lost});
  f.finds({kFound});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  CHECK(host.until(id, State::kUnknown).error_type == ErrorCode::kOutcomeUnknown);
  CHECK(std::get<Error>(host.cancel(id)).type() == ErrorCode::kCannotCancel);
  host.quiet();
  f.clock.advance(59'999);
  host.quiet();
  CHECK(f.looked == 0);
  f.clock.advance(1);
  const auto done = host.until(id, State::kCompleted);
  CHECK(done.result_json == kFound.result_json);
  CHECK(f.executed == 1);
}

TEST_CASE("a settle time ignores jumps of the wall clock and starts again with the host") {
  Fixture f;
  f.answers({lost});
  f.finds({kFound});
  std::string id;
  {
    Host host(f.scratch.path(), f.clock);
    host.serve(f.adapter);
    id = host.submit(at_once("hello")).write_id;
    host.until(id, State::kUnknown);
    host.quiet();
    f.clock.jump_wall(3'600'000);
    f.clock.advance(59'999);
    host.quiet();
    CHECK(f.looked == 0);
  }
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  host.quiet();
  f.clock.advance(59'999);
  host.quiet();
  CHECK(f.looked == 0);
  f.clock.advance(1);
  host.until(id, State::kCompleted);
}

TEST_CASE("what is absent is a person's decision") {
  Fixture f;
  f.answers({lost, success});
  f.finds({kAbsent});
  Host host(f.scratch.path(), f.clock);
  const auto id = lose_and_settle(f, host);
  host.until_told(id);
  CHECK(AlertStore(host.store, f.clock).list(true).at(0).kind == "outcome_absent");
  host.quiet();
  f.clock.advance(100'000'000);
  host.quiet();
  CHECK(f.executed == 1);
  CHECK(f.looked == 2);  // once more, late; then the day is over
  f.clock.advance(100'000'000);
  host.quiet();
  CHECK(f.looked == 2);
  CHECK(AlertStore(host.store, f.clock).list(false).size() == 1);
  SECTION("send again") {
    host.resolve(id, WriteEvent::kOperatorResend);
    const auto done = host.until(id, State::kCompleted);
    CHECK(done.attempts == 2);
    CHECK(done.irrevocable);
    CHECK(f.executed == 2);
  }
  SECTION("it happened") {
    host.resolve(id, WriteEvent::kOperatorHappened);
    host.until(id, State::kCompleted);
    CHECK(f.executed == 1);
  }
  SECTION("discard") {
    host.resolve(id, WriteEvent::kOperatorDiscard);
    host.until(id, State::kDiscarded);
    CHECK(AlertStore(host.store, f.clock).list(true).empty());
  }
}

TEST_CASE("an effect that comes after the look said absent completes the write and closes the alert") {
  Fixture f;
  f.answers({lost});
  f.finds({kAbsent, kAbsent, kCannotTell, kAbsent, kFound});
  Host host(f.scratch.path(), f.clock);
  const auto id = lose_and_settle(f, host);
  host.until_told(id);
  const AlertStore alerts(host.store, f.clock);
  CHECK(alerts.list(true).size() == 1);
  for (int looked = 1; looked < 4; ++looked) {
    host.quiet();
    CHECK(f.looked == looked);
    CHECK(alerts.list(false).size() == 1);  // he is told once
    f.clock.advance(16 * 60'000);
  }
  host.quiet();
  f.clock.advance(16 * 60'000);
  CHECK(host.until(id, State::kCompleted).result_json == kFound.result_json);
  CHECK(alerts.list(true).empty());
  CHECK(f.executed == 1);
}

TEST_CASE("what may be repeated is sent again when absent or nobody can tell, until the schedule is used up") {
  Fixture f;
  f.answers({lost});
  const auto found = GENERATE(kAbsent, kCannotTell);
  f.finds({found});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  auto asked = at_once("hello");
  asked.when_absent = "resend";
  const auto id = host.submit(asked).write_id;
  for (unsigned attempt = 1; attempt <= 6; ++attempt) {
    REQUIRE(host.changes.until(id, [&](auto& w) { return w.state == State::kUnknown && w.attempts == attempt; }));
    host.quiet();
    f.clock.advance(60'000);
  }
  for (int minutes = 0; found.answer == kCannotTell.answer && minutes < 15; ++minutes) {
    host.quiet();
    f.clock.advance(60'000);
  }
  host.until_told(id);
  CHECK(f.executed == 6);
}

TEST_CASE("looks that take long hold up no other write") {
  Fixture f;
  std::promise<void> let_go;
  const auto held = let_go.get_future().share();
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite& write) {
    ++f.executed;
    return write.params_json.find("lost") != std::string::npos ? lost(call) : success(call);
  };
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
    held.wait();
    return kFound;
  };
  ExecutorOptions options;
  options.concurrency = 4;
  Host host(f.scratch.path(), f.clock, options);
  host.serve(f.adapter);
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(host.submit(at_once("lost " + std::to_string(i))).write_id);
  for (const auto& id : ids) host.until(id, State::kUnknown);
  host.quiet();
  f.clock.advance(60'000);
  const auto next = host.submit(at_once("not held up")).write_id;
  host.until(next, State::kCompleted);
  let_go.set_value();
  for (const auto& id : ids) host.until(id, State::kCompleted);
}

TEST_CASE("proof that nothing happened leads to another try") {
  Fixture f;
  f.answers({lost, success});
  f.finds({kDisproved});
  Host host(f.scratch.path(), f.clock);
  const auto id = lose_and_settle(f, host);
  host.until(id, State::kDeadLetter);
  host.quiet();
  f.clock.advance(60'000);
  const auto done = host.until(id, State::kCompleted);
  CHECK_FALSE(done.irrevocable);
  CHECK(done.attempts == 2);
}

TEST_CASE("looks that cannot tell end with a person, and a late one may still find it") {
  Fixture f;
  f.answers({lost});
  f.finds({kCannotTell, kCannotTell, kCannotTell, kCannotTell, kCannotTell, kCannotTell, kFound});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  host.until(id, State::kUnknown);
  unsigned looks = 0;
  for (const std::int64_t minutes : {1, 1, 2, 4, 8, 16}) {
    host.quiet();
    CHECK(f.looked == int(looks));
    f.clock.advance(minutes * 60'000);
    ++looks;
    REQUIRE(host.changes.until(id, [&](auto& w) { return w.looks == looks; }));
  }
  CHECK(host.until_told(id).state == State::kUnknown);
  CHECK(AlertStore(host.store, f.clock).list(true).size() == 1);
  host.quiet();
  f.clock.advance(16 * 60'000);
  host.until(id, State::kCompleted);
  CHECK(AlertStore(host.store, f.clock).list(true).empty());
}

TEST_CASE("an abandoned call is of unknown outcome, and what it does later is dropped") {
  Fixture f;
  std::promise<void> entered, let_go, gone;
  auto held = let_go.get_future().share();
  std::atomic<bool> late_send{true}, late_note{true};
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    entered.set_value();
    held.wait();
    late_send = call->begin_unsafe_request();
    late_note = call->remember("{}");
    gone.set_value();
    return std::string(R"({"late":true})");
  };
  f.finds({kAbsent});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  entered.get_future().wait();
  // Past the deadline, and then past the grace that follows it.
  for (int i = 0; i < 30'000 && host.buffer.ledger.get(id)->state == State::kExecuting; ++i) {
    f.clock.advance(60'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  host.until(id, State::kUnknown);
  let_go.set_value();
  gone.get_future().wait();
  CHECK_FALSE(late_send);
  CHECK_FALSE(late_note);
  host.quiet();
  CHECK(host.buffer.ledger.get(id)->state == State::kUnknown);
  CHECK(host.buffer.ledger.get(id)->attempts == 1);
  CHECK(host.buffer.ledger.get(id)->result_json.empty());
}

TEST_CASE("the thread that gives calls up waits for no disk") {
  Fixture f;
  std::promise<void> let_go;
  auto held = let_go.get_future().share();
  std::atomic<int> entered{0};
  f.adapter->on_execute = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<std::string> {
    ++entered;
    held.wait();
    return CallFailure{KRUX_TIMEOUT, true, {}, "too late", {}};
  };
  std::promise<std::thread::id> commits, gives_up;
  std::atomic<bool> told{false};  // its looks, for which the time below may be over as well, are told of as unknown too
  Host host(f.scratch.path(), f.clock);
  const auto observation = host.buffer.ledger.observe([&](const WriteRecord& w) {
    if (w.state == State::kUnknown && !told.exchange(true)) commits.set_value(std::this_thread::get_id());
  });
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  host.runner.start(
      std::make_shared<CallContext>(CallOwner{"notes", "N1", 1, "", 0}, f.clock, f.clock.boot_ms() + 60'000), nullptr,
      [held, &entered] {
        ++entered;
        held.wait();
      },
      [&](CallRunner::End) { gives_up.set_value(std::this_thread::get_id()); });
  for (int i = 0; i < 30'000 && entered < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(entered == 2);
  auto committed = commits.get_future();
  for (int i = 0; i < 30'000 && committed.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready; ++i) {
    f.clock.advance(60'000);
  }
  REQUIRE(committed.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  CHECK(committed.get() != gives_up.get_future().get());
  let_go.set_value();
}

TEST_CASE("a call for which no worker was free has certainly done nothing") {
  Fixture f;
  std::promise<void> let_go;
  auto held = let_go.get_future().share();
  std::atomic<int> entered{0};
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    ++entered;
    held.wait();
    return success(call);
  };
  ExecutorOptions options;
  options.concurrency = 10;
  Host host(f.scratch.path(), f.clock, options);  // its runner has 8 workers
  host.serve(f.adapter);
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(host.submit(at_once(std::to_string(i))).write_id);
  for (int i = 0; i < 30'000 && (entered < 8 || host.executor.in_flight() < 10); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  f.clock.advance(60'000);
  int waiting = 0;
  for (int i = 0; i < 30'000 && waiting < 2; ++i) {
    waiting = static_cast<int>(host.buffer.ledger.counts().dead_letter);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(entered == 8);
  for (const auto& w : host.buffer.ledger.list({"", "", "", {State::kDeadLetter}, false, 50, ""})) CHECK(w.tries == 0);
  let_go.set_value();
}

TEST_CASE("an adapter's note is there for the look") {
  Fixture f;
  f.adapter->on_execute = [](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    if (!call->remember(R"({"draft":"d1"})")) return CallFailure{KRUX_STORAGE, true, {}, "not kept", {}};
    return lost(call);
  };
  std::promise<std::string> note;
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite& w) -> CallResult<EffectFound> {
    note.set_value(w.note_json);
    return kFound;
  };
  Host host(f.scratch.path(), f.clock);
  const auto id = lose_and_settle(f, host);
  host.until(id, State::kCompleted);
  CHECK(note.get_future().get() == R"({"draft":"d1"})");
}

}  // namespace KRUXOS_TEST_FILE
