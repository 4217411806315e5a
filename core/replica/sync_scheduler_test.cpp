#include "core/replica/sync_scheduler.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <thread>

#include "core/adapter/adapter_test_support.hpp"
#include "core/replica/replica_fixture.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// Runs what the test laid out, step by step, and notes which kind of pass each was asked for.
class ScriptedSync final : public RefusingAdapter {
 public:
  using Step = std::function<CallResult<SyncStep>(const CallContextPtr&, const std::shared_ptr<SyncSession>&)>;

  void then(Step step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
  }
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  int running() const { return running_; }
  int most_at_once() const { return most_; }

  using RefusingAdapter::answer;
  AdapterRoles roles() const override { return {.sync = true}; }
  CallResult<SyncStep> answer(Fn<"full_sync">, const CallContextPtr& call, const SessionPtr& store) override {
    return next("full", call, store);
  }
  CallResult<SyncStep> answer(Fn<"incremental_sync">, const CallContextPtr& call, const SessionPtr& store,
                              std::int64_t) override {
    return next("incremental", call, store);
  }

 private:
  CallResult<SyncStep> next(const char* kind, const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) {
    const int now = ++running_;
    most_ = std::max(most_.load(), now);
    Step step;
    {
      const std::lock_guard lock(mutex_);
      asked_.emplace_back(kind);
      if (!steps_.empty()) {
        step = std::move(steps_.front());
        steps_.pop_front();
      }
    }
    CallResult<SyncStep> result = step ? step(call, store) : SyncStep{};
    --running_;
    return result;
  }

  mutable std::mutex mutex_;
  std::deque<Step> steps_;
  std::vector<std::string> asked_;
  std::atomic<int> running_{0}, most_{0};
};

ScriptedSync::Step gives(SyncStep step) {
  return [step](const auto&, const auto&) { return step; };
}
ScriptedSync::Step fails(krux_status status, std::optional<std::int64_t> retry_after_ms = std::nullopt) {
  return [=](const auto&, const auto&) { return CallFailure{status, true, {}, "it went wrong", retry_after_ms}; };
}
const SyncStep kDone{SyncStep::Next::kDone}, kMore{SyncStep::Next::kMore};

/// One account, its replica, and a scheduler on a driven clock.
struct Rig {
  Rig() {
    ActiveAccount made;
    made.ref = {"notes", "N1", 1};
    made.adapter = adapter;
    made.health = std::make_shared<AdapterHealth>();
    made.replica = std::make_shared<Replica>(scratch.path() / "N1.db", mail_collections(), clock);
    account = std::make_shared<ActiveAccount>(std::move(made));
  }
  SyncScheduler& scheduler() {
    if (!scheduler_) scheduler_ = std::make_unique<SyncScheduler>(clock, runner, options);
    return *scheduler_;
  }
  SyncStatus status() {
    const auto all = scheduler().status();
    REQUIRE(all.size() == 1);
    return all.front();
  }
  std::size_t steps() const { return adapter->asked().size(); }
  /// Waits for something that other threads do; real time only bounds a failure.
  template <class Condition>
  void eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) FAIL("it did not happen within 20 s");
      std::this_thread::yield();
    }
  }
  void settled(std::size_t steps_so_far) {
    eventually([&] {
      return steps() == steps_so_far && adapter->running() == 0 && status().phase != SyncStatus::Phase::kSyncing;
    });
  }

  support::Scratch scratch;
  DrivenClock clock;
  CallRunner runner{clock, {.threads = 2}};
  SyncScheduler::Options options;
  std::shared_ptr<ScriptedSync> adapter = std::make_shared<ScriptedSync>();
  ActiveAccountPtr account;
  std::unique_ptr<SyncScheduler> scheduler_;
};

}  // namespace

TEST_CASE("a new account is synced fully at once, then incrementally every interval") {
  Rig rig;
  rig.adapter->then(gives({SyncStep::Next::kMore, 0, 0, 1, 3}));
  rig.scheduler().add(rig.account, 60'000);
  rig.settled(2);
  CHECK(rig.adapter->asked() == std::vector<std::string>{"full", "full"});
  CHECK(rig.status().passes == 1);
  CHECK(rig.account->replica->state().full_done);
  CHECK(rig.account->replica->state().complete_through_ms == rig.clock.wall_ms());
  rig.clock.advance(59'999);
  CHECK(rig.steps() == 2);
  rig.clock.advance(1);
  rig.settled(3);
  CHECK(rig.adapter->asked().back() == "incremental");
}

TEST_CASE("a step waits for as long as it asks, up to 24 hours") {
  Rig rig;
  constexpr std::int64_t kDay = 24 * 3'600'000;
  rig.adapter->then(gives({SyncStep::Next::kWait, kDay - 1, 0, 1, 2}));
  rig.adapter->then(gives({SyncStep::Next::kWait, 3 * kDay, 0, 1, 2}));
  rig.scheduler().add(rig.account, 100'000);
  rig.settled(1);
  rig.clock.advance(kDay - 2);
  CHECK(rig.steps() == 1);
  rig.clock.advance(1);
  rig.settled(2);
  rig.clock.advance(kDay - 1);
  CHECK(rig.steps() == 2);
  rig.clock.advance(1);
  rig.eventually([&] { return rig.steps() >= 3; });
}

TEST_CASE("a step that asks to wait is continued then, and the pass lasts until it is done") {
  Rig rig;
  rig.adapter->then(gives({SyncStep::Next::kWait, 30'000, 0, 1, 2}));
  rig.scheduler().add(rig.account, 100'000);
  rig.settled(1);
  CHECK(rig.status().phase == SyncStatus::Phase::kWaiting);
  CHECK(rig.status().parts_done == 1);
  CHECK_FALSE(rig.account->replica->state().full_done);
  rig.clock.advance(29'999);
  CHECK(rig.steps() == 1);
  rig.clock.advance(1);
  rig.settled(2);
  CHECK(rig.adapter->asked().back() == "full");
  CHECK(rig.status().phase == SyncStatus::Phase::kIdle);
}

TEST_CASE("failures back off, longer each time, and end with the first success") {
  Rig rig;
  for (int i = 0; i < 3; ++i) rig.adapter->then(fails(KRUX_NETWORK));
  rig.scheduler().add(rig.account, 60'000);
  rig.settled(1);
  CHECK(rig.status().phase == SyncStatus::Phase::kBackingOff);
  CHECK(rig.status().last_error == "it went wrong");
  std::int64_t last = 0;
  for (std::size_t step = 1; step <= 3; ++step) {
    const auto wait = rig.status().next_ms - rig.clock.wall_ms();
    CHECK(wait > last);
    CHECK(wait <= 5'000 << (step - 1));
    last = wait;
    rig.clock.advance(wait);
    rig.settled(step + 1);
  }
  CHECK(rig.status().failures_in_a_row == 0);
  CHECK(rig.status().failures == 3);
  CHECK(rig.status().last_error.empty());
  CHECK(rig.status().phase == SyncStatus::Phase::kIdle);
}

TEST_CASE("a service that says how long to wait is not asked before") {
  Rig rig;
  rig.adapter->then(fails(KRUX_RATE_LIMITED, 90'000));
  rig.scheduler().add(rig.account, 1'000);
  rig.settled(1);
  CHECK(rig.status().next_ms == rig.clock.wall_ms() + 90'000);
}

TEST_CASE("an expired cursor leads to one full pass, not to an endless row of them") {
  Rig rig;
  rig.scheduler().add(rig.account, 1'000);
  rig.settled(1);
  rig.adapter->then(fails(KRUX_CURSOR_EXPIRED));
  rig.adapter->then(fails(KRUX_CURSOR_EXPIRED));
  rig.clock.advance(1'000);
  rig.settled(3);
  CHECK(rig.adapter->asked() == std::vector<std::string>{"full", "incremental", "full"});
  CHECK(rig.status().phase == SyncStatus::Phase::kBackingOff);
}

TEST_CASE("a refused token is told once, and once more when it is taken again") {
  Rig rig;
  std::mutex mutex;
  std::vector<std::string> told;
  rig.options.attention = [&](const AccountRef& account, const std::string& why) {
    const std::lock_guard lock(mutex);
    told.push_back(account.account_id + ": " + why);
    return true;
  };
  rig.adapter->then(fails(KRUX_AUTH));
  rig.adapter->then(fails(KRUX_AUTH));
  rig.scheduler().add(rig.account, 1'000);
  for (std::size_t step = 1; step <= 3; ++step) {
    rig.settled(step);
    CHECK((rig.status().phase == SyncStatus::Phase::kRefused) == (step < 3));
    rig.clock.advance(300'000);
  }
  rig.eventually([&] {
    const std::lock_guard lock(mutex);
    return told.size() == 2;
  });
  CHECK(told == std::vector<std::string>{"N1: it went wrong", "N1: "});
}

TEST_CASE("a refusal that is not settled is told again, and so is one after sync_now") {
  Rig rig;
  std::mutex mutex;
  int told = 0;
  rig.options.attention = [&](const AccountRef&, const std::string&) {
    const std::lock_guard lock(mutex);
    return ++told >= 2;
  };
  for (int i = 0; i < 4; ++i) rig.adapter->then(fails(KRUX_AUTH));
  rig.scheduler().add(rig.account, 1'000);
  const auto step = [&](std::size_t n, int expected) {
    rig.settled(n);
    rig.eventually([&] {
      const std::lock_guard lock(mutex);
      return told == expected;
    });
  };
  step(1, 1);
  rig.clock.advance(300'000);
  step(2, 2);
  rig.clock.advance(300'000);
  step(3, 2);  // settled
  rig.scheduler().sync_now("notes");
  step(4, 3);
}

TEST_CASE("parts that are not as a person had agreed are told when they change, and when all are again") {
  Rig rig;
  std::mutex mutex;
  std::vector<std::vector<std::string>> told;
  bool fails_once = true;
  rig.options.changed = [&](const AccountRef&, const std::vector<std::string>& parts) {
    const std::lock_guard lock(mutex);
    if (!parts.empty() && std::exchange(fails_once, false)) throw Error(ErrorCode::kDatabaseError, "the disk is full");
    told.push_back(parts);
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return told.size();
  };
  const auto reports = [](krux_status one, krux_status other) {
    return [=](const auto&, const std::shared_ptr<SyncSession>& store) -> CallResult<SyncStep> {
      store->report("a", one, "a is another one");
      store->report("b", other, "b cannot be read");
      return kDone;
    };
  };
  rig.adapter->then(reports(KRUX_OK, KRUX_NETWORK));        // the first pass: nothing to tell, which is told
  rig.adapter->then(reports(KRUX_CONFLICT, KRUX_NETWORK));  // could not be noted
  rig.adapter->then(reports(KRUX_CONFLICT, KRUX_NETWORK));  // told again
  rig.adapter->then(reports(KRUX_CONFLICT, KRUX_CONFLICT));
  rig.adapter->then(reports(KRUX_CONFLICT, KRUX_CONFLICT));  // the same: not told
  rig.adapter->then(reports(KRUX_OK, KRUX_OK));
  rig.scheduler().add(rig.account, 60'000);
  for (std::size_t steps = 1; steps <= 6; ++steps) {
    rig.settled(steps);
    const std::size_t wanted[] = {1, 1, 2, 3, 3, 4};
    rig.eventually([&] { return count() == wanted[steps - 1]; });
    if (steps < 6) rig.clock.advance(60'000);
  }
  const std::vector<std::string> a{"a: a is another one"}, both{"a: a is another one", "b: b cannot be read"};
  CHECK(told == std::vector<std::vector<std::string>>{{}, a, both, {}});
}

TEST_CASE("steps of one account never overlap, and sync_now ends a wait") {
  Rig rig;
  for (int i = 0; i < 200; ++i) rig.adapter->then(gives(kMore));
  rig.scheduler().add(rig.account, 1'000'000);
  for (int i = 0; i < 50; ++i) rig.scheduler().sync_now("notes");
  rig.settled(201);
  CHECK(rig.adapter->most_at_once() == 1);
  CHECK(rig.scheduler().sync_now("notes"));
  rig.settled(202);
  CHECK_FALSE(rig.scheduler().sync_now("other"));
}

TEST_CASE("who waits for a pass waits for one that began afterwards, and is told why there is none") {
  Rig rig;
  const auto pass = [&] { return rig.scheduler_->pass(rig.account->ref, rig.clock.boot_ms() + 600'000); };
  rig.scheduler().add(rig.account, 60'000);
  rig.settled(1);
  CHECK(pass().empty());
  CHECK(rig.steps() == 2);
  // One is under way.
  std::promise<void> asked, may_end;
  auto end = may_end.get_future();
  rig.adapter->then([&](const auto&, const auto&) {
    asked.set_value();
    end.wait();
    return kDone;
  });
  rig.scheduler().sync_now("notes");
  asked.get_future().wait();
  auto waiting = std::async(std::launch::async, pass);
  may_end.set_value();
  CHECK(waiting.get().empty());
  CHECK(rig.steps() == 4);
  rig.adapter->then(fails(KRUX_UNAVAILABLE));
  CHECK(pass() == "The account's own sync failed: it went wrong");
  // Somebody waits: the back-off does not.
  CHECK(pass().empty());
  rig.scheduler().remove("notes", "N1");
  CHECK(pass() == "The account is not synced by this host.");
}

TEST_CASE("a removed account's step commits nothing more") {
  Rig rig;
  std::atomic<bool> in_step{false}, removed{false};
  std::atomic<int> refused{0};
  rig.adapter->then(
      [&](const CallContextPtr& call, const std::shared_ptr<SyncSession>& session) -> CallResult<SyncStep> {
        in_step = true;
        while (!removed) std::this_thread::yield();
        CHECK(call->cancelled());
        try {
          session->put(message("late", 1, "text"));
          session->commit();
        } catch (const Error&) {
          ++refused;
        }
        return kDone;
      });
  rig.scheduler().add(rig.account, 1'000);
  rig.eventually([&] { return in_step.load(); });
  rig.scheduler().remove("notes", "N1");
  removed = true;
  rig.eventually([&] { return refused == 1; });
  CHECK(rig.scheduler().status().empty());
  CHECK(rig.account->replica->counts().at("messages") == 0);
}

TEST_CASE("a step past its deadline is given up, and the next try is another step") {
  Rig rig;
  std::atomic<bool> let_go{false};
  rig.adapter->then([&](const auto&, const auto&) -> CallResult<SyncStep> {
    while (!let_go) std::this_thread::yield();
    return kDone;
  });
  rig.scheduler().add(rig.account, 1'000);
  rig.eventually([&] { return rig.adapter->running() == 1; });
  rig.clock.advance(300'000 + 1'000);
  rig.eventually([&] { return rig.status().failures_in_a_row == 1; });
  rig.clock.advance(10'000);
  rig.eventually([&] { return rig.steps() == 2; });
  let_go = true;
  rig.settled(2);
  CHECK(rig.status().passes == 1);
}

}  // namespace KRUXOS_TEST_FILE
