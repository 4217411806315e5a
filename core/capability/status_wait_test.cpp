#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "core/capability/call_meters.hpp"
#include "core/capability/handler_test_support.hpp"
#include "core/metrics/metric_registry.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

std::string of(const std::string& id, int seconds) {
  return R"({"write_id":")" + id + R"(","wait_seconds":)" + std::to_string(seconds) + "}";
}

bool waits(const std::future<InvocationResult>& future) {
  return future.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
}

/// As a caller who hears of the call, and may give it up.
struct Followed {
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
  std::future<InvocationResult> future;
  std::mutex mutex;
  std::vector<std::string> heard;

  Followed(Host& host, const std::string& capability, const std::string& arguments) {
    const auto answered = std::make_shared<std::promise<InvocationResult>>();
    Invocation invocation{"agent_1", "tester", "", capability, arguments, "", true};
    invocation.cancellation = cancellation;
    invocation.progress = [this](std::string_view text) {
      const std::lock_guard lock(mutex);
      heard.emplace_back(text);
    };
    host.handler.invoke(std::move(invocation), [answered](InvocationResult r) { answered->set_value(std::move(r)); });
    future = answered->get_future();
  }
  std::string ended_with() { return type_of(Host::document(future.get())); }
  std::vector<std::string> all_heard() {
    const std::lock_guard lock(mutex);
    return heard;
  }
};

}  // namespace

TEST_CASE("Who waits for a write hears of each state that it comes to") {
  Host host;
  host.connect();
  host.executor.start();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  Followed call(host, "proxy.write_status", of(id, 50));
  CHECK(waits(call.future));
  CHECK(call.all_heard() == std::vector<std::string>{"The write waits for the end of its window."});
  host.clock.advance(30'000);
  CHECK(call.ended_with() == "none");
  CHECK(call.all_heard() == std::vector<std::string>{"The write waits for the end of its window.",
                                                     "The write is being executed right now.",
                                                     "The write is already completed."});
}

TEST_CASE("Who gives up waits no more, and the write goes on") {
  Host host;
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  Followed call(host, "proxy.write_status", of(id, 50)), other(host, "proxy.write_status", of(id, 50));
  CHECK(waits(call.future));
  call.cancellation->cancel();
  CHECK(call.ended_with() == "Cancelled");
  CHECK(waits(other.future));
  host.executor.start();
  host.clock.advance(30'000);
  CHECK(other.ended_with() == "none");
  CHECK(host.writes.ledger.get(id)->state == WriteState::kCompleted);
}

TEST_CASE("A read that has not begun is dropped, and one that runs is asked to end") {
  CallRunner::Options one;
  one.of(Lane::kLocal).threads = 1;
  Host host({}, one);
  host.connect();
  std::promise<void> begun;
  std::atomic<int> reads{0};
  host.adapter->on_read = [&](const CallContextPtr& on, auto, auto) {
    if (++reads == 1) begun.set_value();
    while (!on->cancelled()) std::this_thread::yield();
    return Text(CallFailure{KRUX_CANCELLED, true, {}, "Ended.", std::nullopt});
  };
  Followed runs(host, "notes.search", "{}");
  begun.get_future().wait();
  Followed queued(host, "notes.search", "{}");
  queued.cancellation->cancel();
  CHECK(waits(queued.future));
  runs.cancellation->cancel();
  CHECK(runs.ended_with() != "none");
  CHECK(queued.ended_with() == "Cancelled");
  CHECK(reads == 1);
}

TEST_CASE("A write that is given up before it is accepted is dropped, and one that was accepted goes on") {
  Host host;
  host.connect();
  std::promise<void> resolving, go_on;
  host.adapter->on_resolve = [&](auto&, auto, std::string_view params) {
    resolving.set_value();
    go_on.get_future().wait();
    return Text(std::string(params));
  };
  Followed call(host, "notes.add", R"({"title":"a"})");
  resolving.get_future().wait();
  call.cancellation->cancel();
  go_on.set_value();
  CHECK(call.ended_with() == "Cancelled");
  CHECK(host.writes.ledger.list({}).empty());
  host.adapter->on_resolve = nullptr;
  Followed accepted(host, "notes.add", R"({"title":"a"})");
  CHECK(accepted.ended_with() == "none");
  accepted.cancellation->cancel();
  CHECK(host.writes.ledger.list({}).size() == 1);
}

TEST_CASE("When the host stops nobody waits for a write's end") {
  Host host;
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  auto before = host.begin("proxy.write_status", of(id, 50));
  CHECK(waits(before));
  host.writes.settled.end_waiting();
  CHECK(text_of(Host::document(before.get()), "status") == "buffered");
  CHECK(text_of(Host::document(host.begin("proxy.write_status", of(id, 50)).get()), "status") == "buffered");
}

TEST_CASE("A read that was asked to wait is no time of the host's") {
  MetricRegistry registry;
  CallMeters meters(registry);
  HandlerOptions options;
  options.call_meters = &meters;
  Host host(options);
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  const auto timed = [&] {
    const auto page = registry.text({});
    const std::string line = R"(kruxos_read_seconds_count{capability="proxy.write_status",service="proxy"} )";
    const auto at = page.find(line);
    return at == std::string::npos ? std::string("none") : page.substr(at + line.size(), 1);
  };
  host.call("proxy.write_status", of(id, 0));
  CHECK(timed() == "1");
  host.answer_by_advancing(host.begin("proxy.write_status", of(id, 5)), 5'000);
  CHECK(timed() == "1");
  CHECK_THAT(registry.text({}), Catch::Contains(R"({capability="proxy.write_status",outcome="ok",service="proxy"} 2)"));
}

TEST_CASE("Who waits for a write is answered when it has ended") {
  Host host;
  host.connect();
  host.executor.start();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  auto future = host.begin("proxy.write_status", of(id, 50));
  CHECK(waits(future));
  host.clock.advance(30'000);
  const auto answer = Host::document(future.get());
  CHECK(text_of(answer, "status") == "completed");
  CHECK(text_of(answer, "write_id") == id);
  CHECK(text_of(Host::document(host.begin("proxy.write_status", of(id, 50)).get()), "status") == "completed");
}

TEST_CASE("Who has waited long enough is told how the write stands") {
  Host host;
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  auto future = host.begin("proxy.write_status", of(id, 20));
  CHECK(waits(future));
  host.clock.advance(19'000);
  CHECK(waits(future));
  host.clock.advance(1'000);
  CHECK(text_of(Host::document(future.get()), "status") == "buffered");
}

TEST_CASE("Who waits for a write that a person decides about hears of the decision") {
  std::string text = kDefinition;
  text.replace(text.find("tier: notify"), 12, "tier: approval_required");
  Host host({}, {}, text);
  host.connect();
  const auto asked = host.call("notes.add", R"({"title":"a"})");
  REQUIRE(type_of(asked) == "ApprovalRequired");
  const std::string id = asked["error"]["context"]["write_id"].GetString();
  auto future = host.begin("proxy.write_status", of(id, 50));
  CHECK(waits(future));
  CHECK(text_of(host.call("proxy.cancel_write", "{\"write_id\":\"" + id + "\"}"), "status") == "cancelled");
  CHECK(text_of(Host::document(future.get()), "status") == "cancelled");
}

TEST_CASE("An immediate write is answered though another waits for its end") {
  Host host;
  host.connect();
  std::promise<void> asked;
  host.adapter->on_execute = [&](const CallContextPtr& on, auto&) {
    on->begin_unsafe_request();
    return Text(CallFailure{KRUX_NETWORK, false, {}, "Reset.", std::nullopt});
  };
  host.executor.start();
  const auto unknown = host.call("notes.mark", R"({"title":"a"})");
  CHECK(type_of(unknown) == "OutcomeUnknown");
  const std::string id = unknown["error"]["context"]["write_id"].GetString();
  auto future = host.begin("proxy.write_status", of(id, 5));
  CHECK(waits(future));  // unknown is no end
  const auto answer = host.answer_by_advancing(std::move(future), 1'000);
  CHECK(text_of(Host::document(answer), "write_id") == id);
}

TEST_CASE("Nobody waits for what is not his, or longer than a client does") {
  Host host;
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  CHECK(type_of(host.call("proxy.write_status", of(id, 50), "agent_2")) == "InvalidInput");
  CHECK(type_of(host.call("proxy.write_status", of("w_01900000-0000-7000-8000-000000000000", 50))) == "InvalidInput");
  for (const int seconds : {-1, 51}) CHECK(type_of(host.call("proxy.write_status", of(id, seconds))) == "InvalidInput");
}

TEST_CASE("A list of a service that there is not is refused, an empty one is not") {
  Host host;
  host.connect();
  CHECK(type_of(host.call("proxy.list_writes", R"({"service":"nots"})")) == "InvalidInput");
  CHECK(type_of(host.call("proxy.list_writes", R"({"service":"notes"})")) == "none");
}

TEST_CASE("A write with more values than a model takes is told in part, waited for or not") {
  Host host;
  host.connect();
  host.for_model = true;
  host.adapter->on_execute = [](auto&, auto&) {
    std::string numbers = "0";
    for (int i = 0; i < 60'000; ++i) numbers += ",1234";
    return Text(R"({"numbers":[)" + numbers + "]}");
  };
  host.executor.start();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  auto future = host.begin("proxy.write_status", of(id, 50));
  CHECK(waits(future));
  host.clock.advance(30'000);
  const auto in_part = [](const JsonDocument& answer) {
    INFO(to_json(answer).substr(0, 500));
    CHECK(text_of(answer, "status") == "completed");
    CHECK_FALSE(answer["data"].HasMember("result"));
    CHECK(answer["data"].HasMember("members_left_out"));
  };
  in_part(Host::document(future.get()));
  in_part(host.call("proxy.write_status", of(id, 0)));
}

}  // namespace KRUXOS_TEST_FILE
