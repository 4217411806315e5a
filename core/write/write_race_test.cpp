// Many threads at one ledger; run under ThreadSanitizer too.
#include <atomic>
#include <catch2/catch.hpp>
#include <set>

#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("cancel against claim: exactly one wins, thousands of times") {
  constexpr int kWrites = 3000, kCancellers = 2;
  support::Scratch scratch;
  DrivenClock clock;
  auto adapter = std::make_shared<ScriptedAdapter>();
  std::mutex mutex;
  std::multiset<std::string> effects;
  adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite& w) -> CallResult<std::string> {
    answered_request(call);
    const std::lock_guard lock(mutex);
    effects.insert(w.write_id);
    return std::string("{}");
  };
  std::vector<std::string> ids(kWrites);
  std::set<std::string> cancelled;
  {
    Host host(scratch.path(), clock);
    std::atomic<int> answered{0};
    for (int i = 0; i < kWrites; ++i) {
      auto w = new_write(std::to_string(i));
      w.immediate = true;
      host.buffer.ledger.submit(w, [&, i](std::variant<Submitted, Error> answer) {
        ids[static_cast<std::size_t>(i)] = std::get<Submitted>(answer).write.write_id;
        ++answered;
      });
    }
    while (answered < kWrites) std::this_thread::yield();
    host.serve(adapter);
    std::atomic<int> refused{0}, decided{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kCancellers; ++t) {
      threads.emplace_back([&, t] {
        // From the front and from the back, so that the executor is met somewhere.
        for (int i = t; i < kWrites; i += kCancellers) {
          const auto id = ids[static_cast<std::size_t>(t == 0 ? kWrites - 1 - i : i)];
          host.buffer.ledger.cancel(id, "agent_1", "agent:agent_1",
                                    [&, id](const std::variant<WriteRecord, Error>& answer) {
                                      if (std::holds_alternative<WriteRecord>(answer)) {
                                        const std::lock_guard lock(mutex);
                                        cancelled.insert(id);
                                      } else {
                                        ++refused;
                                      }
                                      ++decided;
                                    });
          while (decided < i / 2) std::this_thread::yield();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (int i = 0; i < 60'000; ++i) {
      const auto counts = host.buffer.ledger.counts();
      if (counts.buffered == 0 && counts.executing == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(host.buffer.ledger.counts().completed + static_cast<std::int64_t>(cancelled.size()) == kWrites);
    CHECK(host.buffer.ledger.counts().dead_letter == 0);
    CHECK(host.buffer.ledger.counts().unknown == 0);
  }
  CHECK_FALSE(cancelled.empty());
  CHECK_FALSE(effects.empty());
  for (const auto& id : ids) CHECK(effects.count(id) == (cancelled.count(id) ? 0 : 1));
}

TEST_CASE("many clients with the same intent get one write") {
  support::Scratch scratch;
  DrivenClock clock;
  Host host(scratch.path(), clock);
  std::mutex mutex;
  std::set<std::string> ids;
  int originals = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        Answer<Submitted> answer;
        auto w = new_write("same");
        if (i % 2) w.idempotency_key = "key";
        host.buffer.ledger.submit(w, answer.slot());
        const auto got = answer.value();
        const std::lock_guard lock(mutex);
        ids.insert(got.write.write_id);
        originals += got.duplicate ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(ids.size() == 1);
  CHECK(originals == 1);
  CHECK(host.buffer.ledger.counts().buffered == 1);
}

TEST_CASE("who waits for a write hears of it once, whoever is first") {
  support::Scratch scratch;
  DrivenClock clock;
  Host host(scratch.path(), clock);
  host.serve(std::make_shared<ScriptedAdapter>());
  std::atomic<int> heard{0};
  constexpr int kWrites = 200;
  std::atomic<bool> moving{true};
  std::thread time([&] {
    while (moving) {
      clock.advance(1);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < kWrites; ++i) {
    auto w = new_write(std::to_string(i));
    w.immediate = true;
    const auto id = host.submit(w).write_id;
    host.buffer.settled.wait(id, i % 7, [&](const WriteRecord&) { ++heard; });
    host.buffer.settled.wait(id, 1'000'000'000, [&](const WriteRecord&) { ++heard; });
  }
  for (int i = 0; i < 30'000 && heard < 2 * kWrites; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  moving = false;
  time.join();
  CHECK(heard == 2 * kWrites);
}

}  // namespace KRUXOS_TEST_FILE
