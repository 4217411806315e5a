#include <atomic>
#include <catch2/catch.hpp>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = ExecutorFixture;
using State = WriteState;
using Path = std::vector<WriteState>;

TEST_CASE("a buffered write waits for its window and is then executed once") {
  Fixture f;
  f.answers({success});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(new_write("hello")).write_id;
  f.clock.advance(29'999);
  host.quiet();
  CHECK(host.buffer.ledger.get(id)->state == State::kBuffered);
  f.clock.advance(1);
  const auto done = host.until(id, State::kCompleted);
  CHECK(done.result_json == R"({"ok":true})");
  CHECK(done.attempts == 1);
  CHECK(f.executed == 1);
  CHECK(host.changes.path(id) == Path{State::kBuffered, State::kExecuting, State::kCompleted});
  const auto history = host.buffer.ledger.history(id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].wire == "answered");
  CHECK(history[0].outcome == "done");
}

TEST_CASE("an immediate write runs at once, and its caller hears how it ended") {
  Fixture f;
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  std::promise<WriteRecord> settled;
  host.buffer.settled.wait(id, 10'000, [&](const WriteRecord& w) { settled.set_value(w); });
  CHECK(settled.get_future().get().state == State::kCompleted);
}

TEST_CASE("whoever waits too long is told the true state") {
  Fixture f;
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(new_write("hello")).write_id;
  std::promise<WriteRecord> first, second, none;
  host.buffer.settled.wait(id, 10'000, [&](const WriteRecord& w) { first.set_value(w); });
  host.buffer.settled.wait(id, 40'000, [&](const WriteRecord& w) { second.set_value(w); });
  host.buffer.settled.wait("w_none", 10'000, [&](const WriteRecord& w) { none.set_value(w); });
  CHECK(none.get_future().get().write_id.empty());
  f.clock.advance(10'000);
  CHECK(first.get_future().get().state == State::kBuffered);
  f.clock.advance(20'000);
  CHECK(second.get_future().get().state == State::kCompleted);
}

TEST_CASE("what a second caller finds when it begins to wait is no news to the first") {
  Fixture f;
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(new_write("hello")).write_id;
  std::vector<State> first, second;
  const auto into = [](std::vector<State>& heard) {
    return [&heard](const WriteRecord& w) { heard.push_back(w.state); };
  };
  host.buffer.settled.wait(
      id, 10'000, [](const WriteRecord&) {}, WaitFor::kEnded, into(first));
  host.buffer.settled.wait(
      id, 10'000, [](const WriteRecord&) {}, WaitFor::kEnded, into(second));
  CHECK(first == Path{State::kBuffered});
  CHECK(second == Path{State::kBuffered});
}

TEST_CASE("what many stopped writes leave behind them goes out without a pause") {
  constexpr int kStopped = 300;  // of which one look at what is due stops 64
  Fixture f;
  f.answers({success});
  ExecutorOptions options;
  options.concurrency = 1;
  std::atomic<int> asked{0};
  Host host(f.scratch.path(), f.clock, std::move(options));
  host.buffer.ledger.ask_terms([&](const WriteRecord& write) {
    PresentTerms terms;
    ++asked;
    if (write.summary.starts_with("stopped")) terms.asks = "Somebody has to look at it.";
    return terms;
  });
  host.serve(f.adapter);
  for (int i = 0; i < kStopped; ++i) {
    auto write = new_write("stopped " + std::to_string(i));
    write.summary = "stopped";
    host.submit(std::move(write));
  }
  const auto id = host.submit(new_write("hello")).write_id;
  f.clock.advance(30'000);
  host.until(id, State::kCompleted);  // the clock stands still
  CHECK(f.executed == 1);
  CHECK(asked == kStopped + 1);
}

TEST_CASE("a cancelled write is never executed") {
  Fixture f;
  f.answers({success});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(new_write("hello")).write_id;
  CHECK(std::get<WriteRecord>(host.cancel(id)).state == State::kCancelled);
  f.clock.advance(100'000);
  host.quiet();
  CHECK(f.executed == 0);
}

TEST_CASE("refused for good fails at once") {
  Fixture f;
  f.answers({refused(KRUX_NOT_FOUND)});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto failed = host.until(host.submit(at_once("hello")).write_id, State::kFailed);
  CHECK(failed.error_message == "not now");
  f.clock.advance(10'000'000);
  host.quiet();
  CHECK(f.executed == 1);
}

TEST_CASE("what certainly did not happen is tried on the schedule, and then a person is told") {
  Fixture f;
  f.answers({refused(KRUX_UNAVAILABLE)});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  int attempts = 1;
  for (const std::int64_t minutes : {1, 2, 4, 8, 16}) {
    CHECK(host.until(id, State::kDeadLetter).due_at_ms == f.clock.wall_ms() + minutes * 60'000);
    host.quiet();
    f.clock.advance(minutes * 60'000 - 1);
    host.quiet();
    CHECK(f.executed == attempts);
    f.clock.advance(1);
    ++attempts;
    host.changes.until(id, [&](auto& w) { return w.state == State::kDeadLetter && w.attempts == unsigned(attempts); });
  }
  const auto told = host.until_told(id);
  CHECK(told.due_at_ms == 0);
  CHECK(AlertStore(host.store, f.clock).list(true).at(0).kind == "retries_used_up");
  f.clock.advance(100'000'000);
  host.quiet();
  CHECK(f.executed == 6);
  SECTION("who says: send again") {
    f.answers({success});
    host.resolve(id, WriteEvent::kOperatorResend);
    CHECK(host.until(id, State::kCompleted).attempts == 7);
    CHECK(AlertStore(host.store, f.clock).list(true).empty());
  }
  SECTION("or discards it") {
    host.resolve(id, WriteEvent::kOperatorDiscard);
    CHECK(host.until(id, State::kDiscarded).decided_by == "operator:ann");
  }
}

TEST_CASE("Retry-After replaces the schedule's gap") {
  Fixture f;
  f.answers({refused(KRUX_RATE_LIMITED, 5000), success});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  CHECK(host.until(id, State::kDeadLetter).due_at_ms == f.clock.wall_ms() + 5250);
  f.clock.advance(5249);
  host.quiet();
  CHECK(f.executed == 1);
  f.clock.advance(1);
  host.until(id, State::kCompleted);
}

TEST_CASE("a refused token holds the writes until the account works again") {
  Fixture f;
  f.answers({refused(KRUX_AUTH)});
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  const auto one = host.submit(at_once("one")).write_id, two = host.submit(at_once("two")).write_id;
  for (int i = 0; i < 10; ++i) {
    for (const auto& id : {one, two}) {
      const auto attempt = unsigned(i + 1);
      REQUIRE(host.changes.until(id, [&](auto& w) { return w.state == State::kDeadLetter && w.attempts == attempt; }));
    }
    host.quiet();
    if (i < 9) f.clock.advance(960'000);
  }
  CHECK_FALSE(host.buffer.ledger.get(one)->escalated);
  CHECK(AlertStore(host.store, f.clock).list(true).size() == 1);
  f.adapter->on_execute = {};
  host.executor.connection_restored(kAccount);
  host.until(one, State::kCompleted);
  host.until(two, State::kCompleted);
}

TEST_CASE("a write that its account's profile leaves out by now is held, and goes out once it is open again") {
  Fixture f;
  f.answers({success});
  Host host(f.scratch.path(), f.clock);
  const auto connected = [&](const std::string& profile, std::vector<std::string> scopes) {
    auto definition = std::make_shared<ServiceDefinition>(*notes_definition());
    definition->capabilities[0].required_scopes = {"add"};
    definition->oauth.profiles = {{"full", "", {}, {}}, {"draft", "", {}, {"notes.add"}}};
    auto account = std::make_shared<ActiveAccount>(*account_of(f.adapter, definition));
    account->profile = profile;
    account->scopes = std::move(scopes);
    account->scopes_known = true;
    host.accounts.publish(account);
    host.executor.connection_restored(kAccount);
    host.executor.wake();
  };
  const bool by_scope = GENERATE(false, true);
  connected(by_scope ? "full" : "draft", by_scope ? std::vector<std::string>{"read"} : std::vector<std::string>{"add"});
  host.executor.start();
  const auto id = host.submit(at_once("one")).write_id;
  const auto held = host.until(id, State::kDeadLetter);
  CHECK(f.executed == 0);
  CHECK_FALSE(held.escalated);
  CHECK_THAT(held.error_message, Catch::Contains(by_scope ? "was not granted: add" : "leaves notes.add out"));
  const auto alerts = AlertStore(host.store, f.clock).list(true);
  REQUIRE(alerts.size() == 1);
  CHECK_THAT(alerts[0].message, Catch::Contains("are held"));
  connected("full", {"add"});
  host.until(id, State::kCompleted);
  CHECK(f.executed == 1);
}

TEST_CASE("a rollback point is stored before the first attempt and kept") {
  Fixture f;
  std::vector<std::string> seen;
  std::vector<std::int64_t> first_attempts;
  int points = 0;
  f.adapter->on_point = [&](const CallContextPtr&, const AdapterWrite& w) {
    first_attempts.push_back(w.first_attempt_at_ms);
    return R"({"point":)" + std::to_string(++points) + "}";
  };
  Host host(f.scratch.path(), f.clock);
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite& w) {
    seen.push_back(w.point_json);
    seen.push_back(host.buffer.ledger.get(w.write_id)->point_json);
    return w.attempt == 1 ? refused(KRUX_UNAVAILABLE)(call) : success(call);
  };
  host.serve(f.adapter);
  const auto id = host.submit(at_once("hello", "notes.move")).write_id;
  host.until(id, State::kDeadLetter);
  host.quiet();
  f.clock.advance(60'000);
  CHECK(host.until(id, State::kCompleted).point_json == R"({"point":1})");
  CHECK(seen == std::vector<std::string>(4, R"({"point":1})"));
  CHECK(first_attempts == std::vector<std::int64_t>{0});
}

TEST_CASE("without its rollback point a write is not begun") {
  Fixture f;
  f.answers({success});
  Host host(f.scratch.path(), f.clock);
  SECTION("the adapter fails") {
    f.adapter->on_point = [](auto&, auto&) { return CallFailure{KRUX_NETWORK, false, {}, "reset", {}}; };
    host.serve(f.adapter);
    host.until(host.submit(at_once("hello", "notes.move")).write_id, State::kDeadLetter);
    CHECK(f.executed == 0);
  }
  SECTION("the adapter talks nonsense") {
    f.adapter->on_point = [](auto&, auto&) { return std::string("nonsense"); };
    host.serve(f.adapter);
    host.until(host.submit(at_once("hello", "notes.move")).write_id, State::kDeadLetter);
    CHECK(f.executed == 0);
  }
  SECTION("but an adapter that cannot undo it says so first") {
    f.adapter->can_undo = false;
    host.serve(f.adapter);
    CHECK(host.until(host.submit(at_once("hello", "notes.move")).write_id, State::kCompleted).point_json.empty());
  }
}

TEST_CASE("a write runs on no other account or generation, and waits") {
  Fixture f;
  f.answers({success});
  Host host(f.scratch.path(), f.clock);
  host.executor.start();
  const auto id = host.submit(at_once("hello")).write_id;
  host.accounts.publish(account_of(f.adapter, notes_definition(), {"notes", "N1", 2}));
  host.accounts.publish(account_of(f.adapter, notes_definition(), {"notes", "N2", 1}));
  host.executor.wake();
  f.clock.advance(10'000'000);
  host.quiet();
  CHECK(f.executed == 0);
  CHECK(host.buffer.ledger.get(id)->state == State::kBuffered);
  SECTION("until it is connected again") {
    host.accounts.publish(account_of(f.adapter, notes_definition()));
    host.executor.wake();
    host.until(id, State::kCompleted);
  }
  SECTION("and a quarantined adapter is not called") {
    const auto account = account_of(f.adapter, notes_definition());
    account->health->abandoned();
    account->health->abandoned();
    host.accounts.publish(account);
    host.executor.wake();
    f.clock.advance(100'000);
    host.quiet();
    CHECK(f.executed == 0);
    account->health->release();
    host.executor.wake();
    host.until(id, State::kCompleted);
  }
}

TEST_CASE("no more calls are under way than allowed") {
  Fixture f;
  std::atomic<int> now{0}, most{0};
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) {
    const int n = ++now;
    for (int seen = most; n > seen && !most.compare_exchange_weak(seen, n);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --now;
    return success(call);
  };
  ExecutorOptions options;
  options.concurrency = 3;
  Host host(f.scratch.path(), f.clock, options);
  std::vector<std::string> ids;
  host.serve(f.adapter);
  for (int i = 0; i < 40; ++i) ids.push_back(host.submit(new_write(std::to_string(i))).write_id);
  host.quiet();
  f.clock.advance(30'000);
  for (const auto& id : ids) host.until(id, State::kCompleted);
  CHECK(most == 3);
}

TEST_CASE("a service that is slow, or has much to do, does not make another one's writes late") {
  Fixture f;
  std::promise<void> let_go;
  const auto held = let_go.get_future().share();
  std::atomic<int> slow{0};
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) {
    ++slow;
    held.wait();
    return success(call);
  };
  ExecutorOptions options;
  options.concurrency = 4;
  Host host(f.scratch.path(), f.clock, options);
  const AccountRef other{"notes", "N2", 1};
  host.accounts.publish(account_of(std::make_shared<ScriptedAdapter>(), notes_definition(), other));
  std::vector<std::string> slow_ids;
  for (int i = 0; i < 10; ++i) slow_ids.push_back(host.submit(at_once("slow " + std::to_string(i))).write_id);
  auto write = at_once("in time");
  write.account = other;
  write.agent_id = "agent_2";
  const auto in_time = host.submit(write).write_id;
  host.serve(f.adapter);
  host.until(in_time, State::kCompleted);
  while (slow < 2) std::this_thread::yield();
  while (!host.executor.asleep()) std::this_thread::yield();
  CHECK(slow == 2);
  CHECK(host.buffer.ledger.get(slow_ids[2])->state == State::kBuffered);
  let_go.set_value();
  for (const auto& id : slow_ids) host.until(id, State::kCompleted);
}

TEST_CASE("where writes wait for a place, one commit records an outcome and claims the next") {
  constexpr int kWrites = 10;
  Fixture f;
  ExecutorOptions options;
  options.concurrency = 1;
  Host host(f.scratch.path(), f.clock, options);
  const auto commits = [&] {
    return SQLite::Database(host.store.file().string())
        .execAndGet("SELECT n FROM counters WHERE what = 'commit'")
        .getInt64();
  };
  std::int64_t at_first = 0;
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) {
    while (!host.executor.asleep()) std::this_thread::yield();
    if (f.executed++ == 0) at_first = commits();
    return success(call);
  };
  std::vector<std::string> ids;
  host.serve(f.adapter);
  for (int i = 0; i < kWrites; ++i) ids.push_back(host.submit(new_write(std::to_string(i))).write_id);
  host.quiet();
  f.clock.advance(30'000);
  for (const auto& id : ids) host.until(id, State::kCompleted);
  CHECK(commits() == at_first + kWrites);
  CHECK(f.executed == kWrites);
}

TEST_CASE("a stop records what has returned, whoever was to do it") {
  for (int round = 0; round < 30; ++round) {
    Fixture f;
    std::atomic<bool> let_go{false};
    std::string id;
    ExecutorOptions options;
    options.concurrency = 1;
    Host host(f.scratch.path(), f.clock, options);
    f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) {
      while (!host.executor.asleep()) std::this_thread::yield();
      f.executed = 1;
      while (!let_go) std::this_thread::yield();
      return success(call);
    };
    id = host.submit(at_once("hello")).write_id;
    host.serve(f.adapter);
    while (f.executed == 0) std::this_thread::yield();
    let_go = true;
    host.executor.stop(10'000);
    CHECK(host.buffer.ledger.get(id)->state == State::kCompleted);
  }
}

TEST_CASE("a stop claims nothing more and leaves what does not return to the next start") {
  Fixture f;
  std::promise<void> let_go, entered;
  auto held = let_go.get_future().share();
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    entered.set_value();
    held.wait();
    return success(call);
  };
  f.finds({kAbsent});
  std::string id, other;
  {
    ExecutorOptions options;
    options.concurrency = 1;
    Host host(f.scratch.path(), f.clock, options);
    host.serve(f.adapter);
    id = host.submit(at_once("hello")).write_id;
    entered.get_future().wait();
    other = host.submit(at_once("later")).write_id;
    host.executor.stop(0);
    let_go.set_value();
  }
  Host host(f.scratch.path(), f.clock);
  CHECK(host.buffer.ledger.get(id)->state == State::kExecuting);
  CHECK(host.buffer.ledger.get(other)->state == State::kBuffered);
  f.adapter->on_execute = {};
  host.serve(f.adapter);
  host.until(id, State::kUnknown);
  host.until(other, State::kCompleted);
}

}  // namespace KRUXOS_TEST_FILE
