#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"

using namespace krux;
using namespace handler_test;

namespace {

std::string of(const std::string& id, int seconds) {
  return R"({"write_id":")" + id + R"(","wait_seconds":)" + std::to_string(seconds) + "}";
}

bool waits(const std::future<InvocationResult>& future) {
  return future.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
}

}  // namespace

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
