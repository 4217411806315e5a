// Calls that run on the thread that starts them.
#include "core/adapter/call_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::call_test;
using End = CallRunner::End;

namespace {

CallTurn local_of(const std::string& agent, bool on_borrowed = false) {
  return {Lane::kLocal, agent, {}, on_borrowed};
}

/// Where a body ran, and how it ended.
struct Seen {
  std::atomic<std::thread::id> ran{};
  std::promise<End> ended;
  std::future<End> end = ended.get_future();
  bool is_here() const { return ran.load() == std::this_thread::get_id(); }
};

std::shared_ptr<Seen> start_here(
    CallRunner& runner, const CallContextPtr& call, const CallTurn& turn, const std::function<void()>& body = [] {},
    const std::shared_ptr<AdapterHealth>& health = nullptr) {
  auto seen = std::make_shared<Seen>();
  runner.start(
      call, health,
      [seen, body] {
        seen->ran = std::this_thread::get_id();
        body();
      },
      [seen](End end) { seen->ended.set_value(end); }, turn, RunsOn::kCaller);
  return seen;
}

/// A thread that is lent to a call which hangs at the door.
struct Lent {
  Lent(CallRunner& runner, const CallContextPtr& call, const std::string& agent, const std::shared_ptr<Door>& door,
       std::shared_ptr<AdapterHealth> health = nullptr)
      : thread([&runner, call, agent, door, health, this] {
          seen = start_here(
              runner, call, local_of(agent), [door] { door->wait(); }, health);
        }) {}
  ~Lent() { thread.join(); }
  std::shared_ptr<Seen> seen;
  std::thread thread;
};

}  // namespace

TEST_CASE("borrowed: a turn that can begin at once runs on the thread that starts it, and what may follow behind it") {
  DrivenClock clock;
  CallRunner runner(clock, {2, 4, 250});
  std::shared_ptr<Seen> read, write;
  const auto message = start_here(runner, make_call(clock, 1000), local_of("a"), [&] {
    read = std::make_shared<Seen>();
    runner.start(
        make_call(clock, 1000), nullptr, [read] { read->ran = std::this_thread::get_id(); },
        [read](End end) { read->ended.set_value(end); }, local_of("a", true));
  });
  CHECK(message->is_here());
  CHECK(read->is_here());
  CHECK(read->end.get() == End::kReturned);
  CHECK(runner.figures(Lane::kLocal).begun == 2);

  const auto second = start_here(runner, make_call(clock, 1000), local_of("a"), [&] {
    write = std::make_shared<Seen>();
    runner.start(
        make_call(clock, 1000), nullptr, [write] { write->ran = std::this_thread::get_id(); },
        [write](End end) { write->ended.set_value(end); }, local_of("a"));
  });
  CHECK(second->is_here());
  CHECK(write->end.get() == End::kReturned);
  CHECK_FALSE(write->is_here());
  CHECK(runner.figures(Lane::kLocal).begun == 4);
}

TEST_CASE("borrowed: an agent's calls run on as many threads of callers as it may have running") {
  DrivenClock clock;
  CallRunner::Options options;
  options.of(Lane::kLocal) = {4, 2};
  CallRunner runner(clock, options);
  const auto door = std::make_shared<Door>();
  const Lent first(runner, make_call(clock, 1000), "a", door), second(runner, make_call(clock, 1000), "a", door);
  door->wait_for(2);
  CHECK(runner.figures(Lane::kLocal).begun == 2);
  const auto third = start_here(runner, make_call(clock, 1000), local_of("a"));
  CHECK(runner.figures(Lane::kLocal).waiting == 1);
  door->open();
  CHECK(third->end.get() == End::kReturned);
  CHECK_FALSE(third->is_here());
}

TEST_CASE("borrowed: whose agent has as much running as it may, or who would overtake others, waits for a worker") {
  DrivenClock clock;
  CallRunner::Options options;
  options.of(Lane::kLocal) = {2, 1};
  CallRunner runner(clock, options);
  const auto door = std::make_shared<Door>();
  {
    const Lent lent(runner, make_call(clock, 1000), "a", door);
    door->wait_for(1);
    const auto second = start_here(runner, make_call(clock, 1000), local_of("a"));
    CHECK(runner.figures(Lane::kLocal).waiting == 1);
    // A place is free, but somebody waits for his turn.
    const auto other = start_here(runner, make_call(clock, 1000), local_of("b"));
    CHECK(other->end.get() == End::kReturned);
    CHECK_FALSE(other->is_here());
    door->open();
    CHECK(second->end.get() == End::kReturned);
    CHECK_FALSE(second->is_here());
  }
  // Whoever waits is answered a moment before the place is free.
  bool here = false;
  for (int tries = 0; tries < 1000 && !here; ++tries) {
    const auto again = start_here(runner, make_call(clock, 1000), local_of("a"));
    CHECK(again->end.get() == End::kReturned);
    here = again->is_here();
  }
  CHECK(here);
}

TEST_CASE("borrowed: a thread takes up a place of its lane") {
  DrivenClock clock;
  CallRunner::Options options;
  options.of(Lane::kLocal) = {1};
  CallRunner runner(clock, options);
  const auto door = std::make_shared<Door>();
  const Lent lent(runner, make_call(clock, 1000), "a", door);
  door->wait_for(1);
  const auto other = start_here(runner, make_call(clock, 1000), local_of("b"));
  CHECK(runner.figures(Lane::kLocal).waiting == 1);
  door->open();
  CHECK(other->end.get() == End::kReturned);
  CHECK_FALSE(other->is_here());
}

TEST_CASE("borrowed: a call that is overdue is given up, its place is free, and its late return ends nothing twice") {
  DrivenClock clock;
  CallRunner::Options options;
  options.grace_ms = 0;
  options.of(Lane::kLocal) = {1};
  CallRunner runner(clock, options);
  const auto health = std::make_shared<AdapterHealth>();
  const auto door = std::make_shared<Door>();
  {
    const auto call = make_call(clock, 100);
    const Lent lent(runner, call, "a", door, health);
    door->wait_for(1);
    clock.advance(100);
    eventually([&] { return runner.lost() == 1; });
    eventually([&] { return health->abandoned_total() == 1; });
    CHECK(start_here(runner, make_call(clock, 100), local_of("a"))->is_here());
    CHECK(start(
              runner, make_call(clock, 100), nullptr, [] {}, local_of("b"))
              ->end.get() == End::kReturned);
    door->open();
  }
  CHECK(runner.lost() == 0);
  CHECK_FALSE(health->quarantined());
}

TEST_CASE("borrowed: what is refused does not run, and ends elsewhere") {
  DrivenClock clock;
  CallRunner runner(clock, {2, 4, 0});
  const auto health = std::make_shared<AdapterHealth>();
  health->abandoned();
  health->abandoned();
  const auto call = make_call(clock, 1000);
  const auto seen = start_here(
      runner, call, local_of("a"), [] {}, health);
  CHECK(seen->end.get() == End::kAbandoned);
  CHECK(seen->ran.load() == std::thread::id());
  CHECK_THAT(call->failure()->message, Catch::Contains("quarantined"));
}

TEST_CASE("borrowed: the end waits for a thread that comes back, and says so where one does not") {
  DrivenClock clock;
  CallRunner runner(clock, {2, 4, 50});
  const auto door = std::make_shared<Door>();
  const auto call = make_call(clock, 1000);
  SECTION("it comes back when it is cancelled") {
    std::atomic<bool> runs{false};
    std::shared_ptr<Seen> seen;
    std::thread polite([&] {
      seen = start_here(runner, call, local_of("a"), [&] {
        runs = true;
        while (!call->cancelled()) std::this_thread::yield();
      });
    });
    eventually([&] { return runs.load(); });
    CHECK(runner.stop());
    polite.join();
    CHECK(seen->end.get() == End::kReturned);
  }
  SECTION("it does not") {
    const Lent lent(runner, call, "a", door);
    door->wait_for(1);
    CHECK_FALSE(runner.stop());
    CHECK(runner.lost() == 1);
    door->open();
  }
}

}  // namespace KRUXOS_TEST_FILE
