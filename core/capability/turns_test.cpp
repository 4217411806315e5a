// Which of an agent's calls waits for what.
#include <catch2/catch.hpp>
#include <set>

#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

/// Two threads for an account and one for an agent, whose queue takes three.
CallRunner::Options narrow_lanes() {
  CallRunner::Options options;
  options.threads = 4;
  for (const auto lane : {Lane::kLocal, Lane::kIsolated, Lane::kFetch}) options.of(lane) = {4, 1, 2, 3};
  return options;
}

/// Reads that hang until they are let go.
struct Held {
  std::promise<void> let_go;
  std::shared_future<void> gate = let_go.get_future().share();
  std::atomic<int> held{0};

  explicit Held(Host& host, std::string which) {
    host.adapter->on_read = [this, which](auto&, std::string_view capability, auto) {
      if (capability == which) {
        ++held;
        gate.wait();
      }
      return Text(std::string("{}"));
    };
  }
  void wait_for(int count) const {
    while (held < count) std::this_thread::yield();
  }
};

}  // namespace

TEST_CASE("turns: an agent's reads that fetch keep neither its other calls nor anybody else's waiting") {
  const bool isolated = GENERATE(false, true);
  Host host({}, narrow_lanes());
  host.connect("N1", {"read", "write"}, isolated);
  Held held(host, "notes.fetch");
  std::vector<std::future<InvocationResult>> fetching;
  fetching.push_back(host.begin("notes.fetch"));
  held.wait_for(1);
  for (int i = 0; i < 3; ++i) fetching.push_back(host.begin("notes.fetch"));
  CHECK(type_of(host.call("notes.search")) == "none");
  CHECK(type_of(host.call("proxy.list_writes")) == "none");
  CHECK(type_of(host.call("notes.add", R"({"title":"a"})")) == "none");
  // Beyond its own bound the agent is refused at once; another one's read begins beside it.
  const auto refused = host.call("notes.fetch");
  CHECK(type_of(refused) == "RateLimited");
  CHECK(refused["error"]["retryable"].GetBool());
  CHECK(refused["error"]["retry_after"].GetInt() == 1);
  auto other = host.begin("notes.fetch", "{}", "agent_2");
  held.wait_for(2);
  CHECK(host.runner.figures(Lane::kFetch).waiting == 3);
  held.let_go.set_value();
  CHECK(other.get().success);
  for (auto& one : fetching) CHECK(one.get().success);
}

TEST_CASE("turns: reads by an adapter in a process of its own are not in the way of those in the host's") {
  Host host({}, narrow_lanes());
  host.connect("N1", {"read", "write"}, true);
  Held held(host, "notes.search");
  std::vector<std::future<InvocationResult>> slow;
  slow.push_back(host.begin("notes.search"));
  held.wait_for(1);
  for (int i = 0; i < 3; ++i) slow.push_back(host.begin("notes.search"));
  CHECK(host.runner.figures(Lane::kIsolated).waiting == 3);
  CHECK(type_of(host.call("proxy.list_writes")) == "none");
  CHECK(type_of(host.call("notes.fetch")) == "none");
  held.let_go.set_value();
  for (auto& one : slow) CHECK(one.get().success);
}

TEST_CASE("turns: what an operator edits is behind no agent's calls") {
  Host host({}, narrow_lanes());
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  Held held(host, "notes.search");
  std::vector<std::future<InvocationResult>> slow;
  for (const auto* agent : {"agent_1", "agent_2", "agent_3"}) slow.push_back(host.begin("notes.search", "{}", agent));
  held.wait_for(2);
  std::promise<std::variant<WriteRecord, Error>> edited;
  host.handler.edit(id, host.writes.ledger.get(id)->content_hash, R"({"title":"b"})", "operator:ann",
                    [&](std::variant<WriteRecord, Error> answer) { edited.set_value(std::move(answer)); });
  const auto answer = edited.get_future().get();
  REQUIRE(std::holds_alternative<WriteRecord>(answer));
  held.let_go.set_value();
  for (auto& one : slow) CHECK(one.get().success);
}

TEST_CASE("turns: a message is taken apart when it is its agent's turn, and its first call follows at once") {
  Host host({}, narrow_lanes());
  host.connect();
  std::set<std::thread::id> threads;
  std::mutex mutex;
  const auto note = [&] {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  };
  host.adapter->on_read = [&](auto&, auto, auto) {
    note();
    return Text(std::string("{}"));
  };
  std::promise<InvocationResult> answered;
  host.handler.in_turn(
      "agent_1",
      [&] {
        note();
        host.handler.invoke({"agent_1", "tester", "", "notes.search", "{}", ""},
                            [&](InvocationResult r) { answered.set_value(std::move(r)); });
      },
      [](const Error& e) { FAIL(e.what()); });
  CHECK(answered.get_future().get().success);
  const std::lock_guard lock(mutex);
  CHECK(threads.size() == 1);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("turns: a message whose agent has too much waiting, or whose turn does not come, is refused with a time") {
  Host host({}, narrow_lanes());
  host.connect();
  Held held(host, "notes.search");
  auto first = host.begin("notes.search");
  held.wait_for(1);
  std::vector<std::future<std::string>> late;
  const auto send = [&] {
    const auto refused = std::make_shared<std::promise<std::string>>();
    host.handler.in_turn(
        "agent_1", [] { FAIL("it ran"); },
        [refused](const Error& e) {
          refused->set_value(std::string(e.type().name()) +
                             (e.retry_after_ms() == 1000 && e.retryable() ? " 1 s" : ""));
        });
    return refused->get_future();
  };
  for (int i = 0; i < 3; ++i) late.push_back(send());
  CHECK(send().get() == "RateLimited 1 s");
  host.clock.advance(9'000);
  CHECK(late[0].wait_for(std::chrono::milliseconds(0)) != std::future_status::ready);
  host.clock.advance(1'000);
  for (auto& one : late) CHECK(one.get() == "Timeout 1 s");
  held.let_go.set_value();
  first.get();
}

TEST_CASE("turns: a message that the host itself hangs in is given up and said to be so, and no adapter is blamed") {
  CallRunner::Options workers = narrow_lanes();
  workers.grace_ms = 0;
  Host host({}, workers);
  host.connect();
  for (int i = 0; i < 2; ++i) {  // as many as put an adapter out of service
    std::promise<void> let_go, begun;
    std::promise<Error> given_up;
    host.handler.in_turn(
        "agent_1",
        [&] {
          begun.set_value();
          let_go.get_future().wait();
        },
        [&](Error why) { given_up.set_value(std::move(why)); });
    begun.get_future().wait();
    host.clock.advance(10'000);
    const auto why = given_up.get_future().get();
    CHECK(why.type() == ErrorCode::kTimeout);
    CHECK_FALSE(why.retryable());
    CHECK_THAT(why.what(), Catch::Contains("proxy.list_writes"));
    CHECK(host.runner.lost() == 1);
    let_go.set_value();
    while (host.runner.lost() > 0) std::this_thread::yield();
  }
  CHECK(host.health->abandoned_total() == 0);
  CHECK(type_of(host.call("notes.search")) == "none");
}

}  // namespace KRUXOS_TEST_FILE
