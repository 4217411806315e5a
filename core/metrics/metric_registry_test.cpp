#include "core/metrics/metric_registry.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "core/metrics/account_label.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

constexpr MetricName kSeen{"kruxos_seen_total", "What was seen."};
constexpr MetricName kDepth{"kruxos_depth", "How deep."};
constexpr std::array<const char*, 3> kColours{"red", "green", "other"};
constexpr std::array<double, 2> kBounds{.001, .1};

}  // namespace

TEST_CASE("what is counted stands on the page with its labels, one family once") {
  MetricRegistry registry;
  registry.counter(kSeen, {{"service", "a"}}).add();
  registry.counter(kSeen, {{"service", "b"}}).add(2.5);
  registry.counter(kSeen, {{"service", "a"}}).add();
  MetricSheet sheet;
  sheet.gauge(kDepth, {}, -3);
  const auto text = registry.text(sheet);
  CHECK(text ==
        "# HELP kruxos_depth How deep.\n# TYPE kruxos_depth gauge\nkruxos_depth -3\n"
        "# HELP kruxos_seen_total What was seen.\n# TYPE kruxos_seen_total counter\n"
        "kruxos_seen_total{service=\"a\"} 2\nkruxos_seen_total{service=\"b\"} 2.5\n");
}

TEST_CASE("a histogram counts microseconds in buckets of seconds") {
  MetricRegistry registry;
  const auto histogram = registry.histogram({"kruxos_x_seconds", "X."}, {}, kBounds);
  for (const auto us : {-5, 1000, 1001, 2'000'000}) histogram.observe_us(us);
  const auto text = registry.text({});
  CHECK_THAT(text, Contains("kruxos_x_seconds_count 4\n") && Contains("{le=\"0.001\"} 2\n") &&
                       Contains("{le=\"0.1\"} 3\n") && Contains("{le=\"+Inf\"} 4\n"));
  CHECK_THAT(text, Contains("kruxos_x_seconds_sum 2.002001\n"));
}

TEST_CASE("what counts into nothing does no harm") {
  MetricCounter().add();
  MetricHistogram().observe_us(1);
}

TEST_CASE("a label's value can be anything without breaking the page") {
  MetricRegistry registry;
  MetricSheet sheet;
  sheet.gauge(kDepth, {{"account", "a\"b\\c\nd"}}, 1);
  CHECK_THAT(registry.text(sheet), Contains("kruxos_depth{account=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST_CASE("sheets are laid together") {
  MetricSheet first, second;
  first.gauge(kDepth, {{"account", "A"}}, 1);
  second.gauge(kDepth, {{"account", "B"}}, 2);
  second.counter(kSeen, {}, 3);
  first.merge(std::move(second));
  CHECK_THAT(MetricRegistry().text(first), Contains("kruxos_depth{account=\"A\"} 1\nkruxos_depth{account=\"B\"} 2\n") &&
                                               Contains("# TYPE kruxos_seen_total counter\nkruxos_seen_total 3\n"));
}

TEST_CASE("counters by a label are made when they are counted, and what is unknown is the last") {
  MetricRegistry registry;
  MetricCounters counters(registry, kSeen, {{"service", "a"}}, "colour", kColours);
  counters.add(1);
  counters.add(17);
  const auto text = registry.text({});
  CHECK_THAT(text, Contains("{colour=\"green\",service=\"a\"} 1") && Contains("{colour=\"other\",service=\"a\"} 1") &&
                       !Contains("red"));
}

TEST_CASE("many threads count while pages are read") {
  MetricRegistry registry;
  MetricCounters counters(registry, kSeen, {}, "colour", kColours);
  const auto histogram = registry.histogram({"kruxos_x_seconds", "X."}, {}, kBounds);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        counters.add(static_cast<std::size_t>(i % 3));
        histogram.observe_us(i);
      }
    });
  }
  for (int i = 0; i < 20; ++i) registry.text({});
  for (auto& thread : threads) thread.join();
  CHECK_THAT(registry.text({}), Contains("kruxos_seen_total{colour=\"red\"} 4000") &&
                                    Contains("kruxos_seen_total{colour=\"other\"} 4000") &&
                                    Contains("kruxos_x_seconds_count 12000"));
}

TEST_CASE("an account that may be somebody's address stands as a hash") {
  CHECK(account_label("T0WORKSPACE") == "T0WORKSPACE");
  CHECK(account_label("").empty());
  // printf %s 'me@example.com' | sha256sum
  CHECK(account_label("me@example.com") == "id-8c2a47d3bdb8");
  CHECK(account_label(std::string(65, 'a')).size() == 15);
  CHECK(account_label(std::string("a\0b\xff", 4)).starts_with("id-"));
}

}  // namespace KRUXOS_TEST_FILE
