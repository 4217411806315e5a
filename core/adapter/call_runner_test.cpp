#include "core/adapter/call_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::call_test;
using End = CallRunner::End;

TEST_CASE("Calls run in order of arrival and return") {
  DrivenClock clock;
  CallRunner runner(clock, {1, 4, 10});
  std::vector<int> order;
  std::vector<std::shared_ptr<Started>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(start(runner, make_call(clock, 1000), nullptr, [&order, i] { order.push_back(i); }));
  }
  for (auto& one : all) CHECK(one->end.get() == End::kReturned);
  REQUIRE(order.size() == 20);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("A call past its deadline is cancelled, and after the grace abandoned and replaced") {
  DrivenClock clock;
  auto door = std::make_shared<Door>();
  CallRunner runner(clock, {1, 4, 250});
  const auto health = std::make_shared<AdapterHealth>();
  const auto call = make_call(clock, 1000);
  std::atomic<bool> told{false};
  call->on_cancel([&] { told = true; });
  const auto hung = start(runner, call, health, [door] { door->wait(); });
  door->wait_for(1);
  CHECK_FALSE(call->cancelled());

  clock.advance(1000);
  eventually([&] { return told.load(); });
  CHECK_FALSE(call->ended());
  CHECK(runner.lost() == 0);
  eventually([&] { return clock.next_wake_boot_ms() == clock.boot_ms() + 250; });
  clock.advance(250);
  CHECK(hung->end.get() == End::kAbandoned);
  CHECK(call->ended());
  CHECK_FALSE(call->begin_unsafe_request());
  CHECK(runner.lost() == 1);
  CHECK(health->abandoned_total() == 1);

  // The one worker was replaced.
  CHECK(runner.run(make_call(clock, 1000), nullptr, [] {}) == End::kReturned);
  door->open();
  eventually([&] { return runner.lost() == 0; });
}

TEST_CASE("A call that was past its deadline while the host was paused may still return") {
  DrivenClock clock;
  CallRunner runner(clock, {2, 4, 250});
  const auto health = std::make_shared<AdapterHealth>();
  std::vector<CallContextPtr> calls;
  std::vector<std::shared_ptr<Started>> all;
  std::atomic<int> running{0};
  for (int i = 0; i < 2; ++i) {
    calls.push_back(make_call(clock, 1000));
    all.push_back(start(runner, calls.back(), health, [call = calls.back(), &running] {
      ++running;
      while (!call->cancelled()) std::this_thread::yield();
      // As code that has to be let run before it can come back.
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    }));
  }
  eventually([&] { return running == 2; });
  clock.advance(3'600'000);  // the deadline and its grace pass while nobody runs
  for (auto& one : all) CHECK(one->end.get() == End::kReturned);
  CHECK_FALSE(health->quarantined());
  CHECK(health->abandoned_total() == 0);
  CHECK(runner.lost() == 0);
}

TEST_CASE("A call that ends itself during the grace has returned") {
  DrivenClock clock;
  CallRunner runner(clock, {1, 4, 250});
  const auto call = make_call(clock, 1000);
  std::atomic<bool> runs{false};
  const auto polite = start(runner, call, nullptr, [call, &runs] {
    runs = true;
    while (!call->cancelled()) std::this_thread::yield();
  });
  eventually([&] { return runs.load(); });
  clock.advance(1000);
  CHECK(polite->end.get() == End::kReturned);
  CHECK(runner.lost() == 0);
}

TEST_CASE("A call that misses its deadline in the queue never runs, and its adapter is not to blame") {
  DrivenClock clock;
  auto door = std::make_shared<Door>();
  CallRunner runner(clock, {1, 4, 250});
  const auto health = std::make_shared<AdapterHealth>();
  const auto busy = start(runner, make_call(clock, 100'000), nullptr, [door] { door->wait(); });
  door->wait_for(1);
  bool ran = false;
  const auto call = make_call(clock, 50);
  const auto late = start(runner, call, health, [&ran] { ran = true; });
  CHECK(runner.queued() == 1);
  clock.advance(50);
  CHECK(late->end.get() == End::kAbandoned);
  CHECK_FALSE(ran);
  CHECK(call->failure()->status == KRUX_TIMEOUT);
  CHECK(call->wire() == WireState::kNothingSent);
  CHECK(health->abandoned_total() == 0);
  CHECK(runner.queued() == 0);
  door->open();
  CHECK(busy->end.get() == End::kReturned);
  CHECK_FALSE(ran);
}

TEST_CASE("Two abandoned calls in a row quarantine the adapter until it is released") {
  DrivenClock clock;
  auto door = std::make_shared<Door>();
  CallRunner runner(clock, {2, 8, 0});
  int told = 0;
  const auto health = std::make_shared<AdapterHealth>([&told] { ++told; });
  const auto hang = [&](int so_far) {
    const auto hung = start(runner, make_call(clock, 100), health, [door] { door->wait(); });
    door->wait_for(so_far + 1);
    clock.advance(100);
    CHECK(hung->end.get() == End::kAbandoned);
  };
  hang(0);
  CHECK(runner.run(make_call(clock, 100), health, [] {}) == End::kReturned);  // not in a row
  hang(1);
  CHECK_FALSE(health->quarantined());
  CHECK(told == 0);
  hang(2);
  CHECK(health->quarantined());
  CHECK(told == 1);

  bool ran = false;
  const auto refused = make_call(clock, 100);
  CHECK(runner.run(refused, health, [&] { ran = true; }) == End::kAbandoned);
  CHECK_FALSE(ran);
  REQUIRE(refused->failure());
  CHECK(refused->failure()->status == KRUX_UNAVAILABLE);
  CHECK(refused->failure()->effect_none);
  CHECK(runner.run(make_call(clock, 100), std::make_shared<AdapterHealth>(), [] {}) == End::kReturned);
  health->returned();
  CHECK(health->quarantined());
  health->release();
  CHECK(runner.run(make_call(clock, 100), health, [] {}) == End::kReturned);
  CHECK(health->abandoned_total() == 3);
  door->open();
  eventually([&] { return runner.lost() == 0; });
}

TEST_CASE("Beyond the limit of lost threads calls are refused until some return") {
  DrivenClock clock;
  auto door = std::make_shared<Door>();
  CallRunner runner(clock, {1, 2, 0});
  for (int i = 0; i < 2; ++i) {
    const auto hung = start(runner, make_call(clock, 100), nullptr, [door] { door->wait(); });
    door->wait_for(i + 1);
    clock.advance(100);
    CHECK(hung->end.get() == End::kAbandoned);
  }
  CHECK(runner.lost() == 2);
  const auto refused = make_call(clock, 100);
  CHECK(runner.run(refused, nullptr, [] { FAIL("it ran"); }) == End::kAbandoned);
  CHECK(refused->failure()->status == KRUX_UNAVAILABLE);
  door->open();
  eventually([&] { return runner.lost() == 0; });
  CHECK(runner.run(make_call(clock, 100), nullptr, [] {}) == End::kReturned);
}

TEST_CASE("The destructor ends every call: returned, queued and hung") {
  DrivenClock clock;
  auto door = std::make_shared<Door>();
  auto out = std::make_shared<std::promise<void>>();
  auto gone = out->get_future();
  auto runs = std::make_shared<std::promise<void>>();
  std::vector<std::shared_ptr<Started>> ends;
  std::vector<CallContextPtr> calls;
  {
    CallRunner runner(clock, {2, 4, 500});
    for (int i = 0; i < 4; ++i) calls.push_back(make_call(clock, 100'000));
    ends.push_back(start(runner, calls[0], nullptr, [door, out] {
      door->wait();
      out->set_value();
    }));
    ends.push_back(start(runner, calls[1], nullptr, [call = calls[1], runs] {
      runs->set_value();
      while (!call->cancelled()) std::this_thread::yield();
    }));
    door->wait_for(1);
    runs->get_future().get();
    ends.push_back(start(runner, calls[2], nullptr, [] {}));
    ends.push_back(start(runner, calls[3], nullptr, [] {}));
  }
  CHECK(ends[0]->end.get() == End::kAbandoned);
  CHECK(calls[0]->ended());
  CHECK(ends[1]->end.get() == End::kReturned);
  for (int i : {2, 3}) {
    CHECK(ends[i]->end.get() == End::kAbandoned);
    CHECK(calls[i]->failure()->status == KRUX_UNAVAILABLE);
  }
  door->open();  // the lost thread outlives its runner
  gone.get();
}

TEST_CASE("done runs exactly once when a call returns while it is being abandoned") {
  DrivenClock clock;
  CallRunner runner(clock, {4, 1'000'000, 0});
  int abandoned = 0;
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> runs{false};
    auto go = std::make_shared<std::atomic<bool>>(false);
    const auto one = start(runner, make_call(clock, 10), nullptr, [&runs, go] {
      runs = true;
      while (!*go) std::this_thread::yield();
    });
    eventually([&] { return runs.load(); });
    std::thread release([&] { *go = true; });
    clock.advance(10);
    if (one->end.get() == End::kAbandoned) ++abandoned;
    release.join();
  }
  eventually([&] { return runner.lost() == 0; });
  CHECK(abandoned <= 200);
}

TEST_CASE("A done may start the next call, also while the runner stops") {
  DrivenClock clock;
  auto last = std::make_shared<Started>();
  auto first_runs = std::make_shared<std::promise<void>>();
  {
    CallRunner runner(clock, {1, 4, 20});
    const auto call = make_call(clock, 1000);
    runner.start(
        call, nullptr,
        [call, first_runs] {
          first_runs->set_value();
          while (!call->cancelled()) std::this_thread::yield();
        },
        [&runner, &clock, last](End) {
          runner.start(
              make_call(clock, 1000), nullptr, [] {}, [last](End end) { last->promise.set_value(end); });
        });
    first_runs->get_future().get();
  }
  CHECK(last->end.get() == End::kAbandoned);
}

TEST_CASE("What a call owns is gone when the next one on its worker starts") {
  DrivenClock clock;
  CallRunner runner(clock, {1, 4, 20});
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  CHECK(runner.run(make_call(clock, 1000), nullptr, [owned = std::move(owned)] {}) == End::kReturned);
  CHECK(runner.run(make_call(clock, 1000), nullptr, [&] { CHECK(watch.expired()); }) == End::kReturned);
}

TEST_CASE("A call that comes after the end is refused at once") {
  DrivenClock clock;
  CallRunner runner(clock, {2, 8, 0});
  CHECK(runner.stop());
  const auto late = make_call(clock, 100);
  CHECK(runner.run(late, nullptr, [] {}) == End::kAbandoned);
  CHECK(late->failure()->message.find("stopping") != std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
