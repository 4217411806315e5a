// What one agent's calls leave to others.
#include <random>
#include <vector>

#include "core/adapter/call_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::call_test;
using End = CallRunner::End;

namespace {

/// Six threads a lane: three for an account, two for an agent, whose queue takes twenty.
CallRunner::Options bounded_lanes() {
  CallRunner::Options options;
  options.threads = 6;
  options.grace_ms = 0;
  options.lanes.fill({6, 2, 3, 20});
  return options;
}

CallTurn fetch_of(const std::string& agent, const std::string& account = "mail x") {
  return {Lane::kFetch, agent, account};
}

/// One agent's calls that hang at a door, and let go when the test ends.
struct Flood {
  CallRunner& runner;
  DrivenClock& clock;
  std::shared_ptr<Door> door = std::make_shared<Door>();
  std::vector<std::shared_ptr<Started>> calls{};

  void add(int count, const CallTurn& turn) {
    for (int i = 0; i < count; ++i)
      calls.push_back(start(
          runner, make_call(clock, 100'000), nullptr, [door = door] { door->wait(); }, turn));
  }
  ~Flood() { door->open(); }
};

}  // namespace

TEST_CASE("lanes: an agent's flood of slow calls leaves the others' calls their threads") {
  DrivenClock clock;
  CallRunner runner(clock, bounded_lanes());
  Flood flood{runner, clock};
  flood.add(20, fetch_of("a"));
  flood.door->wait_for(2);
  // Of the same account, of another one, and in every other lane.
  CHECK(start(
            runner, make_call(clock, 1000), nullptr, [] {}, fetch_of("b"))
            ->end.get() == End::kReturned);
  CHECK(start(
            runner, make_call(clock, 1000), nullptr, [] {}, fetch_of("b", "chat y"))
            ->end.get() == End::kReturned);
  for (const auto lane : kLanes) {
    if (lane == Lane::kFetch) continue;
    CHECK(start(runner, make_call(clock, 1000), nullptr, [] {}, {lane, "a", "mail x"})->end.get() == End::kReturned);
  }
  CHECK(flood.door->waited() == 2);
  CHECK(runner.figures(Lane::kFetch).waiting == 18);
  CHECK(runner.queued() == 18);
}

TEST_CASE("lanes: agents are served in turn, however much one of them has waiting") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.of(Lane::kLocal) = {1};
  CallRunner runner(clock, options);
  auto first = std::make_shared<Door>();
  const auto busy = start(runner, make_call(clock, 1000), nullptr, [first] { first->wait(); }, {Lane::kLocal, "z"});
  first->wait_for(1);
  std::string order;
  std::vector<std::shared_ptr<Started>> all;
  for (const auto* agent : {"a", "a", "a", "a", "b", "b", "c"})
    all.push_back(
        start(runner, make_call(clock, 1000), nullptr, [&order, agent] { order += agent; }, {Lane::kLocal, agent}));
  first->open();
  for (const auto& one : all) CHECK(one->end.get() == End::kReturned);
  CHECK(order == "abcabaa");
}

TEST_CASE("lanes: a call that waits for quota leaves its thread's place to others, and its account is passed over") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.of(Lane::kFetch) = {2, 2, 2, 20};
  CallRunner runner(clock, options);
  auto door = std::make_shared<Door>();
  std::vector<std::shared_ptr<Started>> waiting;
  for (int i = 0; i < 5; ++i) {
    const auto call = make_call(clock, 100'000);
    waiting.push_back(start(
        runner, call, nullptr,
        [door, call] {
          const Away wait(*call, CallAway::kAwaitsQuota);
          const Away another(*call, CallAway::kAwaitsQuota);  // of a second request, side by side
          door->wait();
        },
        fetch_of("a")));
  }
  door->wait_for(2);
  // Both threads of the lane sleep, and yet there is room: for the same agent too, but not for that account.
  for (const auto* agent : {"a", "b"}) {
    const auto turn = fetch_of(agent, "chat y");
    CHECK(start(
              runner, make_call(clock, 1000), nullptr, [] {}, turn)
              ->end.get() == End::kReturned);
  }
  CHECK(door->waited() == 2);
  CHECK(runner.figures(Lane::kFetch).waiting == 3);
  door->open();
  for (const auto& one : waiting) CHECK(one->end.get() == End::kReturned);
  // What was lent has come back: the lane is as wide as before.
  Flood flood{runner, clock};
  flood.add(4, fetch_of("a", "chat y"));
  flood.door->wait_for(2);
  CHECK(runner.figures(Lane::kFetch).waiting == 2);
}

TEST_CASE("lanes: fetching reads that compute leave others their part, and go on as soon as those have gone") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.of(Lane::kLocal).divided = true;
  options.of(Lane::kFetch) = {6, 3, 3, 20};
  options.of(Lane::kFetch).computing_of_queue = 2;
  CallRunner runner(clock, options);
  Flood other{runner, clock};
  other.add(1, {Lane::kLocal, "b"});
  other.door->wait_for(1);
  Flood flood{runner, clock};
  flood.add(2, fetch_of("a"));
  flood.door->wait_for(1);
  CHECK(runner.figures(Lane::kFetch).waiting == 1);
  SECTION("its answer has been given") {
    other.door->open();
    flood.door->wait_for(2);
  }
  SECTION("a third one is at its service, and none of those that compute") {
    const auto call = make_call(clock, 100'000);
    const auto at_service = std::make_shared<Door>();
    other.door->open();
    flood.door->wait_for(2);
    flood.calls.push_back(start(
        runner, call, nullptr,
        [call, at_service] {
          const Away away(*call, CallAway::kAtService);
          at_service->wait();
        },
        fetch_of("a")));
    CHECK(runner.figures(Lane::kFetch).waiting == 1);
    flood.door->open();
    at_service->wait_for(1);
    Flood more{runner, clock};
    more.add(2, fetch_of("a"));
    more.door->wait_for(2);
    at_service->open();
  }
}

TEST_CASE("lanes: beyond an agent's own bound its calls are refused at once, nobody else's") {
  DrivenClock clock;
  CallRunner runner(clock, bounded_lanes());
  Flood flood{runner, clock};
  flood.add(2, fetch_of("a"));
  flood.door->wait_for(2);
  flood.add(20, fetch_of("a"));
  const auto refused = make_call(clock, 100'000);
  std::thread::id where;
  bool ran = false;
  End end{};
  runner.start(
      refused, nullptr, [&] { ran = true; },
      [&](End how) {
        end = how;
        where = std::this_thread::get_id();
      },
      fetch_of("a", "chat y"));
  CHECK(end == End::kAbandoned);
  CHECK(where == std::this_thread::get_id());
  CHECK_FALSE(ran);
  REQUIRE(refused->failure());
  CHECK(refused->failure()->status == KRUX_RATE_LIMITED);
  CHECK(refused->failure()->retry_after_ms == 1000);
  CHECK(refused->failure()->effect_none);
  CHECK(refused->failure()->message.find("20 calls of this agent") != std::string::npos);
  CHECK(start(
            runner, make_call(clock, 1000), nullptr, [] {}, fetch_of("b"))
            ->end.get() == End::kReturned);
}

TEST_CASE("lanes: a call whose turn did not come in time says what kept it") {
  DrivenClock clock;
  CallRunner runner(clock, bounded_lanes());
  Flood flood{runner, clock};
  flood.add(6, fetch_of("a"));
  flood.door->wait_for(2);
  const auto late = make_call(clock, 10'000);
  const auto end = start(
      runner, late, nullptr, [] { FAIL("it ran"); }, fetch_of("a"));
  clock.advance(10'000);
  CHECK(end->end.get() == End::kAbandoned);
  REQUIRE(late->failure());
  CHECK(late->failure()->status == KRUX_TIMEOUT);
  CHECK(late->failure()->retry_after_ms == 1000);
  CHECK(late->failure()->message ==
        "The call waited 10 s for its turn and did not begin: 2 calls of the same agent were under "
        "way, and 4 more waited. Send it again, with fewer at a time.");
  flood.add(1, fetch_of("b"));
  flood.door->wait_for(3);
  const auto of_account = make_call(clock, 10'000);
  const auto second = start(
      runner, of_account, nullptr, [] { FAIL("it ran"); }, fetch_of("c"));
  clock.advance(10'000);
  CHECK(second->end.get() == End::kAbandoned);
  CHECK(of_account->failure()->message.find("3 calls of its account were under way") != std::string::npos);
  CHECK(runner.figures(Lane::kFetch).begun == 3);
  CHECK(runner.figures(Lane::kFetch).not_begun == 2);
}

TEST_CASE("lanes: nobody waits for a turn longer than the lane lets him, and who has begun has the time of the call") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.of(Lane::kFetch).wait_ms = 30'000;
  CallRunner runner(clock, options);
  Flood flood{runner, clock};
  flood.add(3, fetch_of("a"));
  flood.door->wait_for(2);
  clock.advance(29'999);
  CHECK(runner.queued() == 1);
  clock.advance(1);
  CHECK(flood.calls[2]->end.get() == End::kAbandoned);
  clock.advance(69'000);
  flood.door->open();
  CHECK(flood.calls[0]->end.get() == End::kReturned);
  CHECK(flood.calls[1]->end.get() == End::kReturned);
}

TEST_CASE("lanes: the first call that a call starts follows it on its thread, the others wait for their turns") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.of(Lane::kLocal) = {1, 1, 1, 20};
  CallRunner runner(clock, options);
  std::string order;
  std::vector<std::shared_ptr<Started>> all(3);
  std::thread::id first, second;
  auto others_wait = std::make_shared<Door>();
  const auto message = start(runner, make_call(clock, 1000), nullptr,
                             [&] {
                               others_wait->wait();
                               first = std::this_thread::get_id();
                               order += "m";
                               for (std::size_t i = 0; i < all.size(); ++i) {
                                 all[i] = start(runner, make_call(clock, 1000), nullptr,
                                                [&, i] {
                                                  if (i == 0) second = std::this_thread::get_id();
                                                  order += std::to_string(i);
                                                },
                                                {Lane::kLocal, "a", "chat y"});
                               }
                             },
                             {Lane::kLocal, "a"});
  others_wait->wait_for(1);
  const auto other = start(runner, make_call(clock, 1000), nullptr, [&] { order += "b"; }, {Lane::kLocal, "b"});
  others_wait->open();
  CHECK(message->end.get() == End::kReturned);
  for (const auto& one : all) CHECK(one->end.get() == End::kReturned);
  CHECK(other->end.get() == End::kReturned);
  CHECK(order == "m0b12");
  CHECK(first == second);
}

TEST_CASE("lanes: a call that was to follow one that is given up waits for its turn") {
  DrivenClock clock;
  CallRunner runner(clock, bounded_lanes());
  auto door = std::make_shared<Door>();
  auto follower = std::make_shared<std::shared_ptr<Started>>();
  const auto hung = start(runner, make_call(clock, 100), nullptr,
                          [&runner, &clock, door, follower] {
                            *follower = start(runner, make_call(clock, 100'000), nullptr, [] {}, {Lane::kLocal, "a"});
                            door->wait();
                          },
                          {Lane::kLocal, "a"});
  door->wait_for(1);
  clock.advance(100);
  CHECK(hung->end.get() == End::kAbandoned);
  CHECK((*follower)->end.get() == End::kReturned);
  door->open();
  eventually([&] { return runner.lost() == 0; });
}

TEST_CASE("lanes: a call that was to follow, but whose account has as much as it may, waits for its turn") {
  DrivenClock clock;
  CallRunner runner(clock, bounded_lanes());
  Flood flood{runner, clock};
  flood.add(2, fetch_of("b"));
  flood.add(1, fetch_of("c"));
  flood.door->wait_for(3);
  std::shared_ptr<Started> follower;
  const auto first = start(
      runner, make_call(clock, 1000), nullptr,
      [&] {
        follower = start(
            runner, make_call(clock, 1000), nullptr, [] {}, fetch_of("a"));
      },
      fetch_of("a", "chat y"));
  CHECK(first->end.get() == End::kReturned);
  CHECK(start(
            runner, make_call(clock, 1000), nullptr, [] {}, fetch_of("a", "chat y"))
            ->end.get() == End::kReturned);
  eventually([&] { return runner.queued() == 1; });
  flood.door->open();
  CHECK(follower->end.get() == End::kReturned);
}

TEST_CASE("lanes: a call that was to follow and whose time is over just before never begins") {
  DrivenClock clock;
  CallRunner runner(clock, bounded_lanes());
  auto door = std::make_shared<Door>();
  auto started = std::make_shared<Door>();  // else this thread could be the last that knows of the call
  // What a call owned goes before the next one begins, and takes its time here.
  const auto owned = [&] { return std::shared_ptr<void>(nullptr, [door](void*) { door->wait(); }); };
  std::shared_ptr<Started> follower;
  std::atomic<bool> ran{false};
  const auto first =
      start(runner, make_call(clock, 1000), nullptr,
            [&, kept = owned()] {
              started->wait();
              follower = start(runner, make_call(clock, 100), nullptr, [&] { ran = true; }, {Lane::kLocal, "a"});
            },
            {Lane::kLocal, "a"});
  started->open();
  CHECK(first->end.get() == End::kReturned);
  door->wait_for(1);
  clock.advance(100);
  CHECK(follower->end.get() == End::kAbandoned);
  door->open();
  CHECK(start(runner, make_call(clock, 1000), nullptr, [] {}, {Lane::kLocal, "a"})->end.get() == End::kReturned);
  CHECK_FALSE(ran);
  CHECK(runner.queued() == 0);
}

TEST_CASE("lanes: the stuck calls of one service leave the others theirs") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.max_lost = 6;
  CallRunner runner(clock, options);
  auto door = std::make_shared<Door>();
  for (int i = 0; i < 3; ++i) {
    const auto hung = start(runner, make_call(clock, 100), nullptr, [door] { door->wait(); }, {Lane::kLocal, "a"});
    door->wait_for(i + 1);
    clock.advance(100);
    CHECK(hung->end.get() == End::kAbandoned);
  }
  const auto refused = make_call(clock, 100);
  CHECK(start(runner, refused, nullptr, [] { FAIL("it ran"); }, {Lane::kLocal, "a"})->end.get() == End::kAbandoned);
  CHECK(refused->failure()->message.find("the adapter of notes are stuck") != std::string::npos);
  const auto other = make_call(clock, 100, "mail");
  CHECK(start(runner, other, nullptr, [] {}, {Lane::kLocal, "a"})->end.get() == End::kReturned);
  door->open();
  eventually([&] { return runner.lost() == 0; });
}

TEST_CASE("lanes: what one agent has the host itself hang in is no adapter's, and refused of this agent alone") {
  DrivenClock clock;
  auto options = bounded_lanes();
  options.max_lost = 6;
  CallRunner runner(clock, options);
  auto door = std::make_shared<Door>();
  const auto of_host = [&] { return make_call(clock, 100, ""); };
  for (int i = 0; i < 3; ++i) {
    const auto hung = start(runner, of_host(), nullptr, [door] { door->wait(); }, {Lane::kLocal, "a"});
    door->wait_for(i + 1);
    clock.advance(100);
    CHECK(hung->end.get() == End::kAbandoned);
  }
  const auto refused = of_host();
  CHECK(start(runner, refused, nullptr, [] { FAIL("it ran"); }, {Lane::kLocal, "a"})->end.get() == End::kAbandoned);
  CHECK(refused->failure()->message ==
        "Too many calls of this agent are stuck in the host itself, no adapter's among them; restart the host.");
  CHECK(start(runner, of_host(), nullptr, [] {}, {Lane::kLocal, "b"})->end.get() == End::kReturned);
  CHECK(start(runner, make_call(clock, 100), nullptr, [] {}, {Lane::kLocal, "a"})->end.get() == End::kReturned);
  door->open();
  eventually([&] { return runner.lost() == 0; });
  CHECK(start(runner, of_host(), nullptr, [] {}, {Lane::kLocal, "a"})->end.get() == End::kReturned);
}

TEST_CASE("lanes: agents that call, wait for quota, start further calls and give up at once end each call once") {
  SystemClock clock;
  auto options = bounded_lanes();
  options.of(Lane::kFetch) = {4, 2, 3, 20};
  std::atomic<int> started{0}, ended{0}, ran{0};
  {
    CallRunner runner(clock, options);
    const auto call_once = [&](std::mt19937& random, const CallTurn& turn, auto body) {
      const auto call = make_call(clock, static_cast<std::int64_t>(1 + random() % 40));
      ++started;
      runner.start(
          call, nullptr, [call, body] { body(call); }, [&ended](End) { ++ended; }, turn);
      return call;
    };
    std::vector<std::thread> agents;
    for (unsigned seed = 1; seed <= 4; ++seed) {
      agents.emplace_back([&, seed] {
        std::mt19937 random(seed);
        const std::string agent(1, static_cast<char>('a' + seed % 3));
        for (int i = 0; i < 400; ++i) {
          const auto lane = random() % 2 == 0 ? Lane::kFetch : Lane::kLocal;
          const CallTurn turn{lane, agent, random() % 2 == 0 ? "mail x" : "chat y"};
          const auto kind = random() % 4;
          const auto call = call_once(random, turn, [&, kind, turn](const CallContextPtr& on) {
            ++ran;
            std::mt19937 inner(kind);
            if (kind == 0) {
              const Away wait(*on, CallAway::kAwaitsQuota);
              std::this_thread::yield();
            }
            if (kind == 1) call_once(inner, turn, [&](const CallContextPtr&) { ++ran; });
          });
          if (kind == 2) call->cancel();
        }
      });
    }
    for (auto& agent : agents) agent.join();
    // An abandoned body may still start a call; none may when the runner is gone.
    eventually([&] { return runner.lost() == 0 && ended == started; });
    CHECK(runner.queued() == 0);
  }
  CHECK(ended == started);
  CHECK(ran > 0);
}

}  // namespace KRUXOS_TEST_FILE
