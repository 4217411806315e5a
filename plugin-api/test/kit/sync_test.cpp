#include <kruxos/kit/page.hpp>
#include <kruxos/kit/sync.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

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

TEST_CASE("a page says where the next one begins, as long as there is one") {
  kruxos::Query query;
  query.limit = 2;
  query.offset = 3;
  const auto page = [&](int rows, std::uint64_t total, bool more_than_counted = false, std::size_t most = 0) {
    PageWriter writer("r", most);
    for (int i = 0; i < rows; ++i) writer.add("1");
    kruxos::QueryResult result;
    result.total = total;
    result.total_is_lower_bound = more_than_counted;
    return writer.done(result, &query);
  };
  CHECK(page(2, 6) == R"({"r":[1,1],"total":6,"next_offset":5})");
  CHECK(page(2, 5) == R"({"r":[1,1],"total":5})");
  CHECK(page(0, 9) == R"({"r":[],"total":9})");
  // More fit than were counted: a full page may be followed, a shorter one is not.
  CHECK(page(2, 4, true) == R"({"r":[1,1],"total":4,"total_is_lower_bound":true,"next_offset":5})");
  CHECK(page(1, 4, true) == R"({"r":[1],"total":4,"total_is_lower_bound":true})");
  CHECK(page(1, 9, false, 1) == R"({"r":[1],"page_is_cut":true,"total":9,"next_offset":4})");
  PageWriter skips("r");
  skips.skip();
  skips.add("1");
  kruxos::QueryResult result;
  result.total = 6;
  CHECK(skips.done(result, &query) == R"({"r":[1],"total":6,"next_offset":5})");
}

}  // namespace KRUXOS_TEST_FILE
