// Connections without a valid key, as many as somebody likes to open, and what they cost those who have one.
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <functional>

#include "host/gateway/gateway_fixture.hpp"
#include "host/http/spare_descriptors.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

constexpr const char* kList = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.list"})";

std::string listing(const std::string& key) {
  return http_post("/rpc", kList, "Authorization: Bearer " + key + "\r\n");
}

HttpLimits few_connections() {
  HttpLimits limits;
  limits.connections = 16;
  return limits;
}

/// What a stranger does with his connection, and leaves it at.
struct Stranger {
  const char* what;
  std::function<void(RawClient&)> act;
};

const std::vector<Stranger>& strangers() {
  static const std::vector<Stranger> all{
      {"sends nothing", [](RawClient&) {}},
      {"sends half a header", [](RawClient& client) { client.send("POST /rpc HTTP/1.1\r\nHost: loc"); }},
      {"sends a header without its body",
       [](RawClient& client) { client.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"); }},
      {"was told that there is nothing",
       [](RawClient& client) {
         client.send(http_get("/"));
         client.receive();
       }},
  };
  return all;
}

/// Takes all descriptors of the process but those that are given back one by one.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    auto low = before_;
    low.rlim_cur = 512;
    setrlimit(RLIMIT_NOFILE, &low);
    for (int fd; (fd = ::dup(STDERR_FILENO)) >= 0;) taken_.push_back(std::make_unique<Descriptor>(fd));
  }
  ~NoDescriptors() {
    taken_.clear();
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  void give_one() { taken_.pop_back(); }
  void give_all() { taken_.clear(); }

 private:
  rlimit before_{};
  std::vector<std::unique_ptr<Descriptor>> taken_;
};

/// What is logged while it lives.
class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::vector<std::string> of(std::string_view part) const {
    std::vector<std::string> found;
    for (const auto& line : sink_->last_formatted()) {
      if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
  }

 private:
  const std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> sink_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  const std::shared_ptr<spdlog::logger> before_;
};

std::uint16_t listen_with_spares(HttpServer& server, std::size_t spares) {
  HttpLimits limits;
  limits.spare_descriptors = spares;
  const auto port =
      server
          .listen_tcp(
              "127.0.0.1", 0, [](const ServerRequest&, const Respond& respond) { respond(ServerResponse{}); }, limits)
          .port;
  CHECK(RawClient(port).ask(http_get("/")).status == 200);  // its loop has what it needs
  while (server.connections() > 0) std::this_thread::yield();
  return port;
}

}  // namespace

TEST_CASE("strangers' connections lock nobody out, whatever they wait for", "[gateway]") {
  for (const auto& stranger : strangers()) {
    INFO(stranger.what);
    Fixture f({}, few_connections());
    RawClient before(f.port);
    CHECK(before.ask(listing(kKey)).status == 200);
    std::vector<RawClient> clients;
    for (int i = 0; i < 100; ++i) {
      clients.emplace_back(f.port);
      stranger.act(clients.back());
      if (i % 10 == 0) CHECK(RawClient(f.port).ask(listing(kOtherKey)).status == 200);
    }
    CHECK(before.ask(listing(kKey)).status == 200);  // on the connection that it had
    RawClient after(f.port);
    for (int i = 0; i < 3; ++i) CHECK(after.ask(listing(kKey)).status == 200);
  }
}

TEST_CASE("strangers who come again at once lock nobody out", "[gateway]") {
  HttpLimits limits;
  limits.connections = 128;
  Fixture f({}, limits);
  RawClient before(f.port);
  CHECK(before.ask(listing(kKey)).status == 200);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::unique_ptr<RawClient>> clients(128);
      for (std::size_t n = 0; !done; ++n) {
        auto& client = clients[n % clients.size()];
        client = std::make_unique<RawClient>(f.port);
        if (i == 0) client->send("POST /rpc HTTP/1.1\r\nHost: loc");
      }
    });
  }
  int served = 0, answered = 0;
  for (int i = 0; i < 100; ++i) {
    served += before.ask(listing(kKey)).status == 200;
    // Where the machine lets the client wait between its connection and its request, others come in between.
    bool answer = false;
    for (int tries = 0; tries < 3 && !answer; ++tries) answer = RawClient(f.port).ask(listing(kKey)).status == 200;
    answered += answer;
  }
  done = true;
  for (auto& thread : threads) thread.join();
  CHECK(served == 100);
  CHECK(answered == 100);
}

TEST_CASE("an agent with more connections than it may have keeps those that it uses", "[gateway]") {
  Fixture f({}, few_connections());  // a quarter of them for one agent
  RawClient other(f.port);
  CHECK(other.ask(listing(kOtherKey)).status == 200);
  std::vector<RawClient> clients;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(f.port);
    CHECK(clients.back().ask(listing(kKey)).status == 200);
  }
  CHECK(clients.front().is_closed_by_server());
  for (std::size_t i = 36; i < 40; ++i) CHECK(clients[i].ask(listing(kKey)).status == 200);
  CHECK(other.ask(listing(kOtherKey)).status == 200);
  for (std::size_t i = 36; i < 40; ++i)
    clients[i].send(
        http_post("/rpc", R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"wait"}})",
                  "Authorization: Bearer " + kKey + "\r\n"));
  f.api.wait_for_held(4);
  const auto refused = RawClient(f.port).ask(listing(kKey));
  CHECK(refused.status == 429);
  CHECK(refused.body.find("more connections") != std::string::npos);
  CHECK(RawClient(f.port).ask(listing(kOtherKey)).status == 200);
  f.api.release();
  CHECK(clients.back().receive().status == 200);
}

TEST_CASE("strangers have less time than those who have shown a key", "[gateway]") {
  Fixture f({}, {}, Fixture::Time::kDriven);
  RawClient silent(f.port), half(f.port), unknown(f.port), agent(f.port), agents_half(f.port);
  half.send("GET / HTTP/1.1\r\nHo");
  CHECK(unknown.ask(http_get("/")).status == 404);
  CHECK(agent.ask(listing(kKey)).status == 200);
  CHECK(agents_half.ask(listing(kKey)).status == 200);
  const auto later = [&](std::int64_t ms) { f.server_clock.advance(ms); };
  later(4'900);
  half.send("st: ");  // which earns it nothing
  CHECK_FALSE(silent.has_news());
  CHECK_FALSE(half.has_news());
  later(200);
  CHECK(silent.is_closed_by_server());
  CHECK(half.receive().status == 408);
  CHECK_FALSE(unknown.has_news());
  later(5'000);
  CHECK(unknown.is_closed_by_server());
  later(60'000);
  CHECK(agent.ask(listing(kKey)).status == 200);
  agents_half.send("POST /rpc HTTP/1.1\r\nHo");
  CHECK_FALSE(agents_half.has_news());
  // Its time runs from when the server knows that the answer is written.
  for (int i = 0; i < 1000 && !agent.has_news(); ++i) {
    later(75'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(agent.is_closed_by_server());
}

TEST_CASE("a listener with descriptors of its own answers where the process has no others", "[http]") {
  HttpServer server;
  const auto port = listen_with_spares(server, 2);
  NoDescriptors none;
  none.give_one();  // the first client's own
  RawClient first(port);
  CHECK(first.ask(http_get("/")).status == 200);
  none.give_one();
  RawClient second(port);
  CHECK(second.ask(http_get("/")).status == 200);
  CHECK(first.ask(http_get("/")).status == 200);
}

TEST_CASE("where there are no descriptors, a stranger's goes to the next connection", "[http]") {
  HttpServer server;
  const auto port = listen_with_spares(server, 0);
  RawClient idle(port);
  CHECK(idle.ask(http_get("/")).status == 200);
  NoDescriptors none;
  none.give_one();
  RawClient client(port);
  CHECK(client.ask(http_get("/")).status == 200);
  CHECK(idle.is_closed_by_server());
}

TEST_CASE("connections that cannot be taken fill no log", "[http]") {
  DrivenClock clock;
  const LogLines log;
  HttpServer server(1, HttpServer::Begin::kAtOnce, &clock);
  const auto port = listen_with_spares(server, 0);
  NoDescriptors none;
  none.give_one();
  const RawClient client(port);
  while (log.of("cannot take connections").empty()) std::this_thread::yield();
  // It is tried ten times a second, and told once a minute.
  while (log.of("cannot take connections").size() < 2) {
    clock.advance(100);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto lines = log.of("cannot take connections");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("(1 times") != std::string::npos);
  CHECK(lines[1].find("(1 times") == std::string::npos);
}

TEST_CASE("spare descriptors are given up one by one and taken back", "[http]") {
  SpareDescriptors spare(2);
  CHECK(spare.refill());
  CHECK(spare.give_one());
  CHECK(spare.give_one());
  CHECK_FALSE(spare.give_one());
  {
    NoDescriptors none;
    CHECK_FALSE(spare.refill());
    none.give_one();
    CHECK_FALSE(spare.refill());
    CHECK(spare.give_one());
    none.give_all();
    CHECK(spare.refill());
  }
}

}  // namespace KRUXOS_TEST_FILE
