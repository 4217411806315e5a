#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

#include "core/net/account_http.hpp"
#include "core/net/test_calls.hpp"

using namespace krux;
using namespace krux::test;

namespace {

/// Answers only once `wanted` requests are under way together.
class Meeting final : public HttpClient {
 public:
  explicit Meeting(int wanted) : wanted_(wanted) {}
  HttpOutcome send(const CallContextPtr&, const HttpRequest& r, HttpSink& sink) override {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++running_);
    changed_.notify_all();
    changed_.wait(lock, [&] { return most_ >= wanted_; });
    --running_;
    lock.unlock();
    if (r.url == "throw") throw std::runtime_error("broken");
    sink.head(200, {});
    sink.body(r.url);
    return {};
  }
  int most() const { return most_; }

 private:
  const int wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0, most_ = 0;
};

}  // namespace

TEST_CASE("several requests go side by side, as many as asked, each with its own answer") {
  const auto side_by_side = GENERATE(1, 4);
  Meeting client(side_by_side);
  std::vector<HttpRequest> requests(20);
  std::vector<HttpResponse> answers(requests.size());
  std::vector<HttpSink*> sinks;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].url = std::to_string(i);
    sinks.push_back(&answers[i]);
  }
  requests[7].url = "throw";
  const auto outcomes = send_many(client, real_call(), requests, sinks, static_cast<std::size_t>(side_by_side));
  CHECK(client.most() == side_by_side);
  REQUIRE(outcomes.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i == 7) {
      CHECK(outcomes[i].status == KRUX_INTERNAL);
      continue;
    }
    CHECK(outcomes[i].status == KRUX_OK);
    CHECK(answers[i].text == std::to_string(i));
  }
}

TEST_CASE("no requests are no work") {
  Meeting client(1);
  CHECK(send_many(client, real_call(), {}, {}).empty());
}
