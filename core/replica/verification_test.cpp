#include "core/replica/verification.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <thread>

#include "core/adapter/adapter_test_support.hpp"
#include "core/replica/replica_fixture.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// What the service has: texts by id. Each sync sees it as it is at each of its steps.
struct Service {
  std::mutex mutex;
  std::map<std::string, std::string> records;

  void set(const std::string& id, const std::string& text) {
    const std::lock_guard lock(mutex);
    records[id] = text;
  }
  void erase(const std::string& id) {
    const std::lock_guard lock(mutex);
    records.erase(id);
  }
};

/// Fetches two records a step, in the order of their ids, and takes away what is no longer there. It passes over what
/// `misses` has, and runs `before_step` first.
class Syncing final : public RefusingAdapter {
 public:
  explicit Syncing(Service& service) : service_(service) {}

  std::set<std::string> misses;  ///< before the first step
  std::function<std::optional<CallResult<SyncStep>>(const std::string& kind)> before_step;
  std::atomic<int> steps{0};
  static std::atomic<int>& at_work() {
    static std::atomic<int> count{0};
    return count;
  }

  using RefusingAdapter::answer;
  AdapterRoles roles() const override { return {.sync = true}; }
  CallResult<SyncStep> answer(Fn<"full_sync">, const CallContextPtr&, const SessionPtr& store) override {
    return one("full", *store);
  }
  CallResult<SyncStep> answer(Fn<"incremental_sync">, const CallContextPtr&, const SessionPtr& store,
                              std::int64_t) override {
    return one("incremental", *store);
  }

 private:
  CallResult<SyncStep> one(const char* kind, SyncSession& store) {
    ++steps;
    if (++at_work() > 1) FAIL_CHECK("two steps of one account at a time");
    std::optional<CallResult<SyncStep>> instead;
    if (before_step) instead = before_step(kind);
    auto result = instead ? *instead : CallResult<SyncStep>(fetch(store));
    --at_work();
    return result;
  }
  SyncStep fetch(SyncSession& store) const {
    const std::lock_guard lock(service_.mutex);
    const auto after = store.cursor("after").value_or("");
    int taken = 0;
    auto at = service_.records.upper_bound(after);
    for (; at != service_.records.end() && taken < 2; ++at, ++taken) {
      if (misses.contains(at->first)) continue;
      auto record = message(at->first, 1'000, at->second);
      record.json = R"({"text":")" + at->second + "\"}";
      (void)store.put(std::move(record));
    }
    const bool done = at == service_.records.end();
    store.set_cursor("after", done ? "" : std::prev(at)->first);
    if (done) {
      for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
        if (!service_.records.contains(id) && !misses.contains(id)) store.erase("messages", id);
      }
    }
    store.commit();
    return SyncStep{done ? SyncStep::Next::kDone : SyncStep::Next::kMore};
  }

  Service& service_;
};

struct Rig {
  Rig() {
    for (const char* id : {"a", "b", "c", "d", "e"}) service.set(id, "one");
  }
  void connect() {
    ActiveAccount made;
    made.ref = {"notes", "N1", 1};
    made.adapter = own;
    made.health = std::make_shared<AdapterHealth>();
    made.replica = std::make_shared<Replica>(scratch.path() / "N1.db", mail_collections(), clock);
    account = std::make_shared<ActiveAccount>(std::move(made));
    scheduler.add(account, 3'600'000);
    REQUIRE(scheduler.pass(account->ref, clock.boot_ms() + 60'000).empty());
  }
  Verified verify(const VerifyOrder& order = {0, 60'000}) {
    Verification verification({clock, runner, scheduler, account, second,
                               [this] {
                                 return std::make_shared<Replica>(scratch.path() / fmt::format("fresh{}", ++fresh),
                                                                  mail_collections(), clock);
                               },
                               [this] { return stop.load(); }});
    return verification.run(order);
  }
  static std::vector<std::string> named(const Verified& verified) {
    std::vector<std::string> all;
    for (const auto& d : verified.differences) all.push_back(d.id + " " + to_string(d.kind));
    return all;
  }

  support::Scratch scratch;
  DrivenClock clock;
  Service service;
  CallRunner::Options options = [] {
    CallRunner::Options o{.threads = 4};
    o.of(Lane::kSync) = {4, 4, 1};
    return o;
  }();
  CallRunner runner{clock, options};
  SyncScheduler scheduler{clock, runner};
  std::shared_ptr<Syncing> own = std::make_shared<Syncing>(service), second = std::make_shared<Syncing>(service);
  ActiveAccountPtr account;
  std::atomic<bool> stop{false};
  int fresh = 0;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("verify: a replica that has what the service has differs in nothing") {
  Rig rig;
  rig.connect();
  for (const std::int64_t records : {0, 3, 1'000}) {
    const auto verified = rig.verify({records, 60'000});
    CHECK(verified.whole == (records != 3));
    CHECK(verified.compared == (records == 3 ? 4 : 5));
    CHECK(verified.differences.empty());
    CHECK(verified.unsettled == 0);
  }
}

TEST_CASE("verify: what the account's own sync has missed is named") {
  Rig rig;
  rig.connect();
  rig.own->misses = {"b", "c", "e"};
  rig.service.set("b", "two");
  rig.service.erase("c");
  rig.service.erase("e");
  rig.service.set("f", "one");
  rig.own->misses.insert("f");
  const auto verified = rig.verify();
  CHECK(verified.whole);
  CHECK(Rig::named(verified) == Words{"b other", "c only_here", "e only_here", "f missing"});
  CHECK(verified.differences[0].members == Words{"text"});
  CHECK(verified.unsettled == 0);
  // The first records alone do not tell what the service has not.
  CHECK(Rig::named(rig.verify({2, 60'000})) == Words{"b other"});
}

TEST_CASE("verify: what changes meanwhile is no difference") {
  Rig rig;
  rig.connect();
  const auto change = [&rig, step = 0](const std::string&) mutable -> std::optional<CallResult<SyncStep>> {
    // Between the account's own pass and the second sync, within it, and behind what it has fetched already.
    if (++step == 1) rig.service.set("a", "two");
    if (step == 2) rig.service.erase("d");
    if (step == 3) rig.service.set("b", "three");
    return std::nullopt;
  };
  rig.second->before_step = change;
  for (const std::int64_t records : {0, 4}) {
    const auto verified = rig.verify({records, 60'000});
    CHECK(Rig::named(verified).empty());
    for (const char* id : {"a", "b", "d"}) rig.service.set(id, "one");
    rig.second->before_step = change;
  }
  const auto changing = rig.verify();
  CHECK(changing.unsettled > 0);
}

TEST_CASE("verify: a replica that is not filled yet is not compared") {
  Rig rig;
  rig.own->before_step = [](const std::string&) {
    return CallResult<SyncStep>(SyncStep{SyncStep::Next::kWait, 60'000});
  };
  ActiveAccount made;
  made.ref = {"notes", "N1", 1};
  made.adapter = rig.own;
  made.health = std::make_shared<AdapterHealth>();
  made.replica = std::make_shared<Replica>(rig.scratch.path() / "N1.db", mail_collections(), rig.clock);
  rig.account = std::make_shared<ActiveAccount>(std::move(made));
  CHECK_THROWS_WITH(rig.verify(), Catch::Contains("is not filled yet"));
  CHECK(rig.second->steps == 0);
}

TEST_CASE("verify: a second sync that fails for good says why, and one that is told to wait waits") {
  Rig rig;
  rig.connect();
  SECTION("a refused token") {
    rig.second->before_step = [](const std::string&) {
      return CallResult<SyncStep>(CallFailure{KRUX_AUTH, true, {}, "The token is not valid any more.", std::nullopt});
    };
    CHECK_THROWS_WITH(rig.verify(), Catch::Contains("The token is not valid any more."));
  }
  SECTION("a cursor that the service does not know any more") {
    rig.second->before_step = [&](const std::string&) -> std::optional<CallResult<SyncStep>> {
      if (rig.second->steps != 2) return std::nullopt;
      return CallResult<SyncStep>(CallFailure{KRUX_CURSOR_EXPIRED, true, {}, "gone", std::nullopt});
    };
    CHECK(rig.verify().compared == 5);
  }
  SECTION("the account's own sync fails") {
    rig.own->before_step = [](const std::string&) {
      return CallResult<SyncStep>(CallFailure{KRUX_UNAVAILABLE, true, {}, "The service is down.", std::nullopt});
    };
    CHECK_THROWS_WITH(rig.verify(),
                      Catch::Contains("could not be brought up to date") && Catch::Contains("The service is down."));
  }
  SECTION("the host stops") {
    rig.second->before_step = [&](const std::string&) -> std::optional<CallResult<SyncStep>> {
      rig.stop = true;
      return std::nullopt;
    };
    CHECK_THROWS_WITH(rig.verify(), Catch::Contains("The host is stopping"));
  }
  SECTION("quotas") {
    rig.second->before_step = [&](const std::string&) -> std::optional<CallResult<SyncStep>> {
      if (rig.second->steps > 2) return std::nullopt;
      return CallResult<SyncStep>(SyncStep{SyncStep::Next::kWait, 20'000});
    };
    std::atomic<bool> ended{false};
    std::thread time([&] {
      while (!ended) {
        rig.clock.advance(1'000);
        std::this_thread::yield();
      }
    });
    const auto verified = rig.verify({0, 3'600'000});
    ended = true;
    time.join();
    CHECK(verified.compared == 5);
  }
}

}  // namespace KRUXOS_TEST_FILE
