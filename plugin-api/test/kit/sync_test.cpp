#include <kruxos/kit/page.hpp>
#include <kruxos/kit/sync.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

using namespace kruxos::kit;

TEST_CASE("a step is over after its requests or its time") {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeCall fake(host.clock);
  const auto call = fake.call();
  StepBudget requests(call, 3, 1'000), time(call, 3, 1'000);
  requests.spend();
  CHECK_FALSE(requests.over());
  requests.spend(2);
  CHECK(requests.over());
  host.clock.advance(999);
  CHECK_FALSE(time.over());
  host.clock.advance(1);
  CHECK(time.over());
}

TEST_CASE("what is due, also by a clock that was set back") {
  CHECK_FALSE(is_due(100, 50, 51));
  CHECK(is_due(100, 50, 50));
  CHECK(is_due(49, 50, 1'000));
}

TEST_CASE("a sync does not go on by half an answer, nor for ever") {
  kruxos::QueryResult result;
  need_whole(result);
  result.incomplete = true;
  CHECK_THROWS_AS(need_whole(result), kruxos::ProxyError);
  need_progress("", "", "Why.");
  need_progress("a", "b", "Why.");
  CHECK_THROWS_WITH(need_progress("a", "a", "Why."), "Why.");
}

TEST_CASE("a page of rows says what it is not") {
  kruxos::QueryResult result;
  result.total = 2;
  PageWriter whole("rows");
  CHECK(whole.add("{}"));
  whole.row() += "[1]";
  CHECK(whole.done(result) == R"({"rows":[{},[1]],"total":2})");
  result.incomplete = result.total_is_lower_bound = true;
  CHECK(PageWriter("rows").done(result) == R"({"rows":[],"total":2,"total_is_lower_bound":true,"incomplete":true})");
  result = {};
  PageWriter full("rows", 12), any("rows", 0);
  CHECK_FALSE(full.add("{\"a\":1}"));
  CHECK(full.done(result) == R"({"rows":[{"a":1}],"page_is_cut":true,"total":0})");
  CHECK(any.add(std::string(3 << 20, ' ')));
}
