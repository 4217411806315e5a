#include "host/metrics/metrics_page.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

constexpr MetricName kSeen{"kruxos_seen_total", "Seen."};
constexpr MetricName kDepth{"kruxos_depth", "Deep."};

std::future<ServerResponse> ask(MetricsPage& page) {
  const auto answered = std::make_shared<std::promise<ServerResponse>>();
  page.give([answered](ServerResponse response) { answered->set_value(std::move(response)); });
  return answered->get_future();
}

MetricSource depth_of(const std::string& name, double value) {
  return {name, [name, value](MetricSheet& out) { out.gauge(kDepth, {{"of", name}}, value); }};
}

/// Holds up whoever comes, until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void wait() {
    ++waiting;
    opened_.wait();
  }
  void open() {
    if (!done_.exchange(true)) promise_.set_value();
  }
  std::atomic<int> waiting{0};

 private:
  std::atomic<bool> done_{false};
  std::promise<void> promise_;
  std::shared_future<void> opened_{promise_.get_future()};
};

}  // namespace

TEST_CASE("the page has what was counted and what its sources say") {
  MetricRegistry registry;
  registry.counter(kSeen, {}).add();
  MetricsPage page(registry, {depth_of("a", 1), depth_of("b", 2)});
  const auto answer = ask(page).get();
  CHECK(answer.status == 200);
  CHECK(answer.content_type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(answer.body, Contains("kruxos_seen_total 1\n") && Contains("kruxos_depth{of=\"a\"} 1\n") &&
                              Contains("kruxos_depth{of=\"b\"} 2\n") && Contains("kruxos_source_up{source=\"b\"} 1\n"));
}

TEST_CASE("a source that fails leaves the others on the page, and nothing of its own") {
  MetricRegistry registry;
  MetricSource failing{"b", [](MetricSheet& out) {
                         out.gauge(kDepth, {{"of", "b"}}, 1);
                         throw std::runtime_error("the database cannot be read");
                       }};
  MetricsPage page(registry, {depth_of("a", 1), failing, depth_of("c", 3)});
  const auto body = ask(page).get().body;
  CHECK_THAT(body, Contains("{of=\"a\"}") && Contains("{of=\"c\"}") && !Contains("{of=\"b\"}") &&
                       Contains("kruxos_source_up{source=\"a\"} 1\n") &&
                       Contains("kruxos_source_up{source=\"b\"} 0\n"));
}

TEST_CASE("a source that hangs is not waited for longer than a page may take, and the next page says so too") {
  MetricRegistry registry;
  registry.counter(kSeen, {}).add();
  Gate gate;
  MetricSource hanging{"hanging", [&](MetricSheet&) { gate.wait(); }};
  MetricsPage page(registry, {depth_of("a", 1), hanging, depth_of("c", 3)}, {30, 8});
  // A machine that is busy may not come to the first source in time: the page is asked for until it hangs.
  std::string first;
  for (int i = 0; i < 500 && gate.waiting == 0; ++i) {
    const auto body = ask(page).get().body;
    if (body.find("{of=\"a\"}") != std::string::npos) first = body;
  }
  REQUIRE(gate.waiting == 1);
  CHECK_THAT(first, Contains("{of=\"a\"}") && Contains("kruxos_source_up{source=\"a\"} 1\n") &&
                        Contains("kruxos_source_up{source=\"hanging\"} 0\n") &&
                        Contains("kruxos_source_up{source=\"c\"} 0\n"));
  for (int i = 0; i < 3; ++i) {
    const auto next = ask(page).get().body;
    CHECK_THAT(next, Contains("kruxos_seen_total 1\n") && Contains("kruxos_source_up{source=\"a\"} 0\n"));
  }
  CHECK(gate.waiting == 1);
  gate.open();
  std::string later;
  for (int i = 0; i < 500 && later.find("hanging\"} 1") == std::string::npos; ++i) later = ask(page).get().body;
  CHECK_THAT(later, Contains("kruxos_source_up{source=\"hanging\"} 1\n") && Contains("{of=\"c\"}"));
}

TEST_CASE("more pages at once than may wait are refused") {
  MetricRegistry registry;
  Gate gate;
  MetricsPage page(registry, {{"held", [&](MetricSheet&) { gate.wait(); }}}, {60'000, 2});
  std::vector<std::future<ServerResponse>> answers;
  answers.push_back(ask(page));
  while (gate.waiting == 0) std::this_thread::yield();
  for (int i = 0; i < 4; ++i) answers.push_back(ask(page));
  gate.open();
  int served = 0, refused = 0;
  for (auto& answer : answers) {
    const auto response = answer.get();
    served += response.status == 200;
    refused += response.status == 503;
    if (response.status == 503) CHECK(response.headers.at(0).first == "Retry-After");
  }
  CHECK(served == 3);
  CHECK(refused == 2);
}

TEST_CASE("pages that are asked for while a page ends are answered or let go of") {
  MetricRegistry registry;
  std::atomic<int> answered{0};
  {
    MetricsPage page(registry, {depth_of("a", 1)});
    for (int i = 0; i < 5; ++i) page.give([&](const ServerResponse&) { ++answered; });
  }
  CHECK(answered <= 5);
}

}  // namespace KRUXOS_TEST_FILE
