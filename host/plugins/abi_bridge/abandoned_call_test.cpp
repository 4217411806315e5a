// Adapters that hang: their calls are abandoned, what was lent stays alive, their late output goes nowhere.
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "host/plugins/testdata/fakes.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::Bridge;
using test::good;
using End = CallRunner::End;

namespace {

/// The mock's door is one for the whole process: opened on the way out, so that no thread stays behind.
class Mock {
 public:
  explicit Mock(const Bridge& bridge) : bridge_(bridge), adapter_(bridge.make("mock")) { say("mock.close"); }
  ~Mock() {
    say("mock.open");
    while (say("mock.count").find("\"waiting\":0") == std::string::npos) std::this_thread::yield();
  }
  std::string say(const std::string& capability) const {
    return good(adapter_->ask<"read">(bridge_.call(), bridge_.reader, capability, "{}"));
  }
  void wait_until_hanging() const {
    while (say("mock.count").find("\"waiting\":1") == std::string::npos) std::this_thread::yield();
  }

 private:
  const Bridge& bridge_;
  const std::shared_ptr<ServiceAdapter> adapter_;
};

}  // namespace

TEST_CASE("A read that hangs is abandoned, and its late result is dropped", "[abi-1.0]") {
  Bridge bridge;
  DrivenClock clock;
  const auto health = std::make_shared<AdapterHealth>();
  auto adapter = bridge.make("mock");
  const std::weak_ptr<ServiceAdapter> watch = adapter;
  const auto call = std::make_shared<CallContext>(CallOwner{"mock", "T1", 1, "", 0}, clock, clock.boot_ms() + 1000);
  const auto result = std::make_shared<std::promise<CallResult<std::string>>>();
  auto late = result->get_future();
  {
    const Mock mock(bridge);
    CallRunner runner(clock, {2, 8, 0});
    std::thread driver([&] {
      mock.wait_until_hanging();
      clock.advance(1000);
    });
    const auto end = runner.run(call, health, [adapter, call, result, reader = bridge.reader] {
      result->set_value(adapter->ask<"read">(call, reader, "mock.hang", "{}"));
    });
    driver.join();
    CHECK(end == End::kAbandoned);
    CHECK(call->ended());
    CHECK(health->abandoned_total() == 1);
    CHECK(runner.lost() == 1);
    adapter.reset();
    CHECK_FALSE(watch.expired());  // its code still runs
  }
  CHECK(good(late.get()) == "{\"late\":true}");  // it returned long after, and nothing broke
  while (!watch.expired()) std::this_thread::yield();
}

TEST_CASE("A write that hangs sends nothing after it was abandoned", "[abi-1.0]") {
  Bridge bridge;
  DrivenClock clock;
  const auto call = std::make_shared<CallContext>(CallOwner{"mock", "T1", 1, "w_1", 1}, clock, clock.boot_ms() + 1000);
  const auto returned = std::make_shared<std::promise<void>>();
  {
    const Mock mock(bridge);
    const auto adapter = bridge.make("mock");
    CallRunner runner(clock, {2, 8, 0});
    std::thread driver([&] {
      mock.wait_until_hanging();
      clock.advance(1000);
    });
    const auto end = runner.run(call, nullptr, [adapter, call, returned] {
      adapter->ask<"execute_write">(call, AdapterWrite{"w_1", "mock.hang", "{}", "", "", 1, 0, 0});
      returned->set_value();
    });
    driver.join();
    CHECK(end == End::kAbandoned);
    CHECK(call->end() == WireState::kNothingSent);
  }
  returned->get_future().get();
  CHECK(bridge.http->requests().empty());
}

TEST_CASE("An adapter whose creation hangs is given up, and destroyed when it appears at last", "[abi-1.0]") {
  Bridge bridge;
  DrivenClock clock;
  const Mock outer(bridge);
  const auto before = outer.say("mock.count");
  {
    CallRunner runner(clock, {2, 8, 0});
    const PluginFactory factory(test::registry(), runner, clock, default_adapter_log(), 1000);
    auto setup = bridge.setup("mock");
    setup.config_json = R"({"create":"hang"})";
    std::thread driver([&] {
      outer.wait_until_hanging();
      clock.advance(1000);
    });
    CHECK_THROWS_WITH(factory.make(setup), Catch::Contains("could not be started"));
    driver.join();
    CHECK(runner.lost() == 1);
  }
  outer.say("mock.open");
  while (outer.say("mock.count") != before) std::this_thread::yield();  // none waits, and only ours is alive
}

}  // namespace KRUXOS_TEST_FILE
