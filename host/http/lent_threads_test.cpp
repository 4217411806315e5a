// Handlers that take their time, on threads of the event loops.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "core/util/clock.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// Holds those who ask for "/hang" on a lent thread until it is opened; says on which thread others were handled.
struct Slow {
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  bool open = false;

  void handle(const ServerRequest& request, const Respond& respond) {
    const bool lent = HttpServer::thread_is_lent();
    if (request.path == "/hang" && lent) {
      std::unique_lock lock(mutex);
      ++waiting;
      changed.notify_all();
      changed.wait(lock, [&] { return open; });
    }
    ServerResponse response;
    response.body = lent ? "lent" : "kept";
    respond(std::move(response));
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return waiting >= count; }));
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
};

struct Served {
  std::shared_ptr<Slow> slow = std::make_shared<Slow>();
  DrivenClock clock;
  std::optional<HttpServer> server;
  std::uint16_t port = 0;

  explicit Served(HttpServer::Handlers handlers = HttpServer::Handlers::kTakeTime) {
    server.emplace(1, HttpServer::Begin::kAtOnce, &clock, handlers);
    port = server
               ->listen_tcp("127.0.0.1", 0,
                            [slow = slow](const ServerRequest& request, const Respond& respond) {
                              slow->handle(request, respond);
                            })
               .port;
  }
  /// One that is under way for long is in nobody's way.
  void some_time_later() { clock.advance(60); }
};

}  // namespace

TEST_CASE("lent: a handler has its loop's thread, unless others that came lately are under way") {
  Served served;
  RawClient client(served.port), hanging(served.port), other(served.port);
  CHECK(client.ask(http_get("/")).body == "lent");
  CHECK(client.ask(http_get("/")).body == "lent");
  hanging.send(http_get("/hang"));
  served.slow->wait_for(1);
  CHECK(other.ask(http_get("/")).body == "kept");
  served.some_time_later();
  // The watch itself has the loop, or a new leader by now: on that one's thread it may take its time again.
  for (std::string body; body != "lent";) body = other.ask(http_get("/")).body;
  served.slow->let_go();
  CHECK(hanging.receive().body == "lent");
}

TEST_CASE("lent: handlers of a server that wants them brief are no lent thread's") {
  Served served(HttpServer::Handlers::kBrief);
  CHECK(RawClient(served.port).ask(http_get("/hang")).body == "kept");
}

TEST_CASE("lent: however many handlers hang, one loop goes on with its connections and takes new ones") {
  Served served;
  RawClient known(served.port);
  CHECK(known.ask(http_get("/")).status == 200);
  constexpr int kHanging = 6;
  std::vector<RawClient> hanging;
  for (int i = 0; i < kHanging; ++i) {
    hanging.emplace_back(served.port);
    // While the watch does the loop's work nothing is lent: it is sent again until a new leader has taken it.
    for (bool held = false; !held;) {
      served.some_time_later();
      hanging.back().send(http_get("/hang"));
      while (!held && !hanging.back().has_news()) {
        const std::lock_guard lock(served.slow->mutex);
        held = served.slow->waiting > i;
      }
      if (!held) CHECK(hanging.back().receive().body == "kept");
    }
    CHECK(known.ask(http_get("/")).status == 200);
    CHECK(RawClient(served.port).ask(http_get("/")).status == 200);
  }
  served.slow->let_go();
  for (auto& client : hanging) {
    CHECK(client.receive().body == "lent");
    CHECK(client.ask(http_get("/")).status == 200);
  }
  CHECK(known.ask(http_get("/")).status == 200);
}

TEST_CASE("lent: an answer from elsewhere is sent while the loop's thread is away") {
  DrivenClock clock;
  const auto slow = std::make_shared<Slow>();
  std::promise<Respond> asked;
  HttpServer server(1, HttpServer::Begin::kAtOnce, &clock, HttpServer::Handlers::kTakeTime);
  const auto port = server
                        .listen_tcp("127.0.0.1", 0,
                                    [&asked, slow](const ServerRequest& request, const Respond& respond) {
                                      if (request.path == "/later") return asked.set_value(respond);
                                      slow->handle(request, respond);
                                    })
                        .port;
  RawClient later(port), hanging(port);
  later.send(http_get("/later"));
  const auto respond = asked.get_future().get();
  // The loop may not have come back from the first request yet: until it has, nothing more is lent.
  bool held = false;
  for (int i = 0; i < 100 && !held; ++i) {
    clock.advance(60);
    hanging.send(http_get("/hang"));
    while (!held && !hanging.has_news()) {
      const std::lock_guard lock(slow->mutex);
      held = slow->waiting > 0;
    }
    if (!held) CHECK(hanging.receive().body == "kept");
  }
  REQUIRE(held);
  respond(ServerResponse{});
  CHECK(later.receive().status == 200);
  CHECK_FALSE(hanging.has_news());
  slow->let_go();
  CHECK(hanging.receive().status == 200);
}

TEST_CASE("lent: the end does not wait for a handler that hangs, and its answer goes nowhere") {
  auto served = std::make_unique<Served>();
  RawClient client(served->port);
  client.send(http_get("/hang"));
  served->slow->wait_for(1);
  const auto slow = served->slow;
  served->server.reset();
  CHECK(client.receive().status == 0);
  served.reset();
  slow->let_go();
  while (slow.use_count() > 1) std::this_thread::yield();
}

}  // namespace KRUXOS_TEST_FILE
