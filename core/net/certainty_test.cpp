// What the host knows of the wire after each way in which an exchange can end.
#include <catch2/catch.hpp>
#include <future>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/net/test_calls.hpp"
#include "core/net/test_server.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

struct Ending {
  HttpOutcome outcome;
  WireState wire;
};

Ending post(const TestServer::Script& script, std::int64_t timeout_ms = 0, bool only_reads = false) {
  TestServer server(script);
  const auto transport = make_http_transport({});
  const auto call = real_call();
  auto r = request("POST", "body");
  r.timeout_ms = timeout_ms;
  r.only_reads = only_reads;
  auto outcome = exchange(*transport, server.url(), r, call).outcome;
  return {outcome, call->end()};
}

TestServer::Script says(std::string text) {
  return [text = std::move(text)](Peer& peer, int) {
    peer.read_request();
    peer.write(text);
  };
}

}  // namespace

TEST_CASE("a refused connection, a failed look-up and a failed handshake sent nothing") {
  TransportOptions options;
  options.resolve = [](const std::string&) -> Resolution { return {{}, "no such name"}; };
  const auto transport = make_http_transport(options);
  TestServer silent([](Peer& peer, int) { peer.read_some(); });
  const auto at = [](std::uint16_t port) { return "https://127.0.0.1:" + std::to_string(port) + "/"; };
  for (const auto& url : {at(refusing_port()), at(silent.port()), std::string("https://unknown.test/")}) {
    INFO(url);
    const auto call = real_call();
    CHECK(exchange(*transport, url, request("POST", "x"), call).outcome.status == KRUX_NETWORK);
    CHECK(call->end() == WireState::kNothingSent);
  }
}

TEST_CASE("a time-out before the request was sent sent nothing") {
  TestServer silent([](Peer& peer, int) { peer.wait_closed(); });
  const auto transport = make_http_transport({});
  const auto call = real_call();
  auto r = request("POST", "x");
  r.timeout_ms = 50;
  const auto url = "https://127.0.0.1:" + std::to_string(silent.port()) + "/";
  CHECK(exchange(*transport, url, r, call).outcome.status == KRUX_TIMEOUT);
  CHECK(call->end() == WireState::kNothingSent);
}

TEST_CASE("a complete answer below 500 settles the matter, anything else leaves it open") {
  CHECK(post(says(answer("ok"))).wire == WireState::kAnswered);
  CHECK(post(says(answer("no", "404 Not Found"))).wire == WireState::kAnswered);
  CHECK(post(says(answer("slow down", "429 Too Many Requests"))).wire == WireState::kAnswered);
  CHECK(post(says(answer("oops", "500 Internal Server Error"))).wire == WireState::kOpen);
  CHECK(post(says(answer("oops", "503 Service Unavailable"))).wire == WireState::kOpen);
  CHECK(post(says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")).wire == WireState::kOpen);
  CHECK(post(says("HTTP/1.1 100 Continue\r\n\r\n")).wire == WireState::kOpen);
  CHECK(post(says("garbage")).wire == WireState::kOpen);
}

TEST_CASE("a connection that breaks after the request leaves it open") {
  const auto before_reading = post([](Peer& peer, int) { peer.reset(); });
  CHECK(before_reading.outcome.status == KRUX_NETWORK);
  const auto after_reading = post([](Peer& peer, int) {
    peer.read_request();
    peer.reset();
  });
  CHECK(after_reading.outcome.status == KRUX_NETWORK);
  CHECK(after_reading.wire == WireState::kOpen);
  CHECK(post([](Peer& peer, int) { peer.read_request(); }).wire == WireState::kOpen);
  const auto late = post([](Peer& peer, int) { peer.wait_closed(); }, 50);
  CHECK(late.outcome.status == KRUX_TIMEOUT);
  CHECK(late.wire == WireState::kOpen);
}

TEST_CASE("safe requests never count") {
  TestServer server(says("HTTP/1.1 500 Oops\r\n\r\n"));
  const auto transport = make_http_transport({});
  for (const auto* method : {"GET", "HEAD", "OPTIONS"}) {
    const auto call = real_call();
    exchange(*transport, server.url(), request(method), call);
    CHECK(call->end() == WireState::kNothingSent);
  }
}

TEST_CASE("an early answer counts although the request was not read whole") {
  const auto early = [](Peer& peer, int) {
    peer.read_some();
    peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    peer.wait_closed();
  };
  TestServer server(early);
  const auto transport = make_http_transport({});
  const auto call = real_call();
  const auto got = exchange(*transport, server.url(), request("POST", std::string(200'000, 'x')), call);
  CHECK(got.response.status == 413);
  CHECK(call->end() == WireState::kAnswered);
}

TEST_CASE("a call that has ended sends nothing any more") {
  TestServer server(says(answer("x")));
  const auto transport = make_http_transport({});
  const auto method = GENERATE(as<std::string>{}, "GET", "POST");
  const auto call = real_call();
  call->end();
  CHECK(exchange(*transport, server.url(), request(method), call).outcome.status == KRUX_CANCELLED);
  CHECK(server.connections() == 0);
  CHECK(call->wire() == WireState::kNothingSent);
}

TEST_CASE("when a call ends during its sends, nothing is sent that it does not know of") {
  // Ends the call at an ever different moment of an exchange; what the server saw, end() must have known of.
  constexpr int calls = 300;
  std::mutex mutex;
  std::set<std::string> seen;
  std::vector<WireState> wires(calls);
  {
    TestServer server([&](Peer& peer, int) {
      for (auto r = peer.read_request(); !r.empty(); r = peer.read_request()) {
        {
          const std::lock_guard lock(mutex);
          seen.insert(r.substr(r.find("\r\n\r\n") + 4));
        }
        peer.write(answer("x"));
      }
    });
    const auto transport = make_http_transport({});
    for (int i = 0; i < calls; ++i) {
      const auto call = real_call();
      std::promise<void> started;
      std::thread ender([&] {
        started.get_future().wait();
        const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(i);
        while (std::chrono::steady_clock::now() < moment) {
        }
        wires[i] = call->end();
      });
      started.set_value();
      exchange(*transport, server.url(), request("POST", std::to_string(i)), call);
      ender.join();
      const auto late = exchange(*transport, server.url(), request("POST", "late"), call);
      REQUIRE(late.outcome.status == KRUX_CANCELLED);
    }
  }
  CHECK(seen.count("late") == 0);
  for (int i = 0; i < calls; ++i) {
    if (wires[i] == WireState::kNothingSent) CHECK(seen.count(std::to_string(i)) == 0);
    if (wires[i] == WireState::kAnswered) CHECK(seen.count(std::to_string(i)) == 1);
  }
}

TEST_CASE("a POST that only reads leaves nothing open when it is lost") {
  const auto lose = [](Peer& peer, int) { peer.read_request(); };
  CHECK(post(lose).wire == WireState::kOpen);
  const auto ending = post(lose, 0, true);
  CHECK(ending.outcome.status == KRUX_NETWORK);
  CHECK(ending.wire == WireState::kNothingSent);
}

}  // namespace KRUXOS_TEST_FILE
