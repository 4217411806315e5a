// Many threads at one ledger; run under ThreadSanitizer too.
#include <array>
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

TEST_CASE("two people accept at the same instant: one is the first, one the last, whatever an edit does in between") {
  constexpr int kWrites = 400;
  const bool edits = GENERATE(false, true);
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  Ledger ledger(store, clock, "boot-1");
  store.run([](SQLite::Database& db) {
    db.exec(
        "INSERT INTO operators (operator_id, name, verifier, set_at_ms, added_at_ms, added_by) VALUES ('op_ann', "
        "'ann', 'v', 1, 1, ''), ('op_bob', 'bob', 'v', 2, 2, '')");
  });
  std::vector<WriteRecord> all;
  for (int i = 0; i < kWrites; ++i) {
    auto write = new_write("n" + std::to_string(i));
    write.approval_reason = "It is for two.";
    write.approvals_needed = 2;
    write.agent_id = "agent_" + std::to_string(i / 50);
    Answer<Submitted> answer;
    ledger.submit(write, answer.slot());
    all.push_back(answer.value().write);
  }
  std::array<std::atomic<int>, 3> answers{};  // waits on, goes out, refused
  std::vector<std::thread> threads;
  for (const std::string name : {"ann", "bob"}) {
    threads.emplace_back([&, name] {
      for (const auto& write : all) {
        Answer<WriteRecord> answer;
        ledger.accept(write.write_id, write.content_hash, {operator_who(name), "op_" + name}, answer.slot());
        const auto outcome = answer.wait();
        const auto* now = std::get_if<WriteRecord>(&outcome);
        ++answers[!now ? 2 : now->state == WriteState::kPendingApproval ? 0 : 1];
      }
    });
  }
  if (edits) {
    threads.emplace_back([&] {
      for (const auto& write : all) {
        NewContent other;
        static_cast<WriteContent&>(other) = static_cast<const WriteContent&>(write);
        other.params_json = R"({"text":"edited )" + write.summary + "\"}";
        Answer<WriteRecord> answer;
        ledger.edit(write.write_id, write.agent_id, write.content_hash, other, "agent:" + write.agent_id,
                    answer.slot());
        answer.value();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (!edits) {
    CHECK(answers[0] == kWrites);
    CHECK(answers[1] == kWrites);
  }
  for (const auto& write : all) {
    const auto now = *ledger.get(write.write_id);
    // What was edited nobody has accepted, whenever that came.
    CHECK(now.state == (edits ? WriteState::kPendingApproval : WriteState::kBuffered));
    CHECK(ledger.acceptances(now).size() == (edits ? 0 : 2));
  }
}

}  // namespace KRUXOS_TEST_FILE
