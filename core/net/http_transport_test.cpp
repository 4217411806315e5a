#include "core/net/http_transport.hpp"

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "core/net/test_calls.hpp"
#include "core/net/test_server.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// A server that answers every request of every connection with `text`.
TestServer::Script always(std::string text) {
  return [text = std::move(text)](Peer& peer, int) {
    while (!peer.read_request().empty() && peer.write(text)) {
    }
  };
}

/// Answers one request with `text`, then closes.
TestServer::Script once(std::string text) {
  return [text = std::move(text)](Peer& peer, int) {
    peer.read_request();
    peer.write(text);
  };
}

}  // namespace

TEST_CASE("a request goes over the wire as asked, with what belongs to the host") {
  std::promise<std::string> seen;
  TestServer server([&](Peer& peer, int) {
    seen.set_value(peer.read_request());
    peer.write(answer("fine", "201 Created", "X-Extra: yes\r\n"));
  });
  const auto transport = make_http_transport({});
  auto r = request("POST", "a=b");
  r.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  const auto got = exchange(*transport, server.url("/api/x?y=1"), r, real_call(), "Bearer secret");
  CHECK(got.outcome.status == KRUX_OK);
  CHECK(got.response.status == 201);
  CHECK(got.response.text == "fine");
  CHECK(find_header(got.response.headers, "x-extra") == "yes");
  const auto text = seen.get_future().get();
  CHECK(text.starts_with("POST /api/x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"));
  CHECK(text.find("Authorization: Bearer secret\r\n") != std::string::npos);
  CHECK(text.find("Accept-Encoding: identity\r\n") != std::string::npos);
  CHECK(text.find("Content-Length: 3\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\na=b"));
}

TEST_CASE("answers of every framing arrive whole") {
  const auto transport = make_http_transport({});
  const auto text_of = [&](const std::string& raw, const std::string& method = "GET") {
    TestServer server(once(raw));
    const auto got = exchange(*transport, server.url(), request(method));
    INFO(raw << " -> " << got.outcome.message);
    REQUIRE(got.outcome.status == KRUX_OK);
    return std::to_string(got.response.status) + ' ' + got.response.text;
  };
  CHECK(text_of("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc") == "200 abc");
  CHECK(text_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") == "200 ");
  CHECK(text_of("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
  CHECK(text_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x=y\r\ncde\r\n0\r\nT: v\r\n\r\n") ==
        "200 abcde");
  CHECK(text_of("HTTP/1.0 200 OK\r\n\r\nuntil the end") == "200 until the end");
  CHECK(text_of("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer("ok")) == "200 ok");
  CHECK(text_of("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "HEAD") == "200 ");
  CHECK(text_of("HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\nContent-Length: 0\r\n\r\n") == "302 ");
}

TEST_CASE("an answer that drips in arrives whole, and in parts") {
  const std::string raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  TestServer server([&](Peer& peer, int) {
    peer.read_request();
    for (const char c : raw) peer.write({&c, 1});
  });
  const auto transport = make_http_transport({});
  CHECK(get(*transport, server.url()).response.text == "abcde");
}

TEST_CASE("answers that make no sense are network failures and never crash") {
  const auto transport = make_http_transport({});
  const auto raw = GENERATE(
      as<std::string>{}, "", "garbage", "HTTP/1.1", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
      "HTTP/1.1 099 Low\r\n\r\n", "HTTP/1.1 101 Switch\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\x01z\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n");
  TestServer server(once(raw));
  const auto got = get(*transport, server.url());
  INFO(raw << " -> " << got.outcome.message);
  CHECK(got.outcome.status == KRUX_NETWORK);
  CHECK_FALSE(got.outcome.message.empty());
}

TEST_CASE("interim answers without end are refused") {
  std::string endless;
  for (int i = 0; i < 40; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  TestServer server(once(endless + answer("late")));
  CHECK(get(*make_http_transport({}), server.url()).outcome.status == KRUX_NETWORK);
}

TEST_CASE("answers beyond their limits are cut off") {
  TransportOptions options;
  options.max_header_bytes = 4096;
  options.default_max_response_bytes = 1000;
  const auto transport = make_http_transport(options);
  const std::string big(5000, 'x');
  const std::string chunk = "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\ny\r\n0\r\n\r\n";
  const auto raw =
      GENERATE_COPY(as<std::string>{}, answer(big), "HTTP/1.1 200 OK\r\nX: " + big + "\r\n\r\n", "HTTP/1.1 200 " + big,
                    "HTTP/1.0 200 OK\r\n\r\n" + big, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk,
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + big + big,
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + big + big);
  TestServer server([&](Peer& peer, int) {
    peer.read_request();
    peer.write(raw);
    peer.wait_closed();
  });
  const auto got = get(*transport, server.url());
  INFO(raw.substr(0, 60) << " -> " << got.outcome.message);
  CHECK(got.outcome.status == KRUX_UNAVAILABLE);
  CHECK(got.response.text.size() <= 1000);
}

TEST_CASE("a request's own limit on the answer replaces the default") {
  TestServer server(always(answer(std::string(5000, 'x'))));
  TransportOptions options;
  options.default_max_response_bytes = 1000;
  auto r = request("GET");
  r.max_response_bytes = 5000;
  CHECK(exchange(*make_http_transport(options), server.url(), r).outcome.status == KRUX_OK);
  r.max_response_bytes = 4999;
  CHECK(exchange(*make_http_transport(options), server.url(), r).outcome.status == KRUX_UNAVAILABLE);
}

TEST_CASE("a receiver that says stop ends the exchange") {
  struct Stopping final : HttpSink {
    bool at_head;
    explicit Stopping(bool h) : at_head(h) {}
    bool head(int, const HttpHeaders&) override { return !at_head; }
    bool body(std::string_view) override { return false; }
  };
  TestServer server(always(answer("text")));
  const auto transport = make_http_transport({});
  Stopping sink(GENERATE(true, false));
  const auto outcome = transport->send(real_call(), parse_url(server.url()), request("GET"), {}, sink);
  CHECK(outcome.status == KRUX_CANCELLED);
}

TEST_CASE("a large body streams in both directions") {
  const std::size_t size = 3'000'000;
  TestServer server([&](Peer& peer, int) { peer.write(answer(std::to_string(peer.read_request().size()))); });
  const auto transport = make_http_transport({});
  auto r = request("POST");
  std::size_t left = size;
  r.body_length = size;
  r.body_source = [&](char* buffer, std::size_t capacity) {
    const auto n = std::min(left, capacity);
    std::fill_n(buffer, n, 'b');
    left -= n;
    return static_cast<std::int64_t>(n);
  };
  const auto got = exchange(*transport, server.url(), r);
  CHECK(got.outcome.status == KRUX_OK);
  CHECK(std::stoul(got.response.text) > size);
  TestServer back(once(answer(std::string(size, 'z'))));
  CHECK(get(*transport, back.url()).response.text.size() == size);
}

TEST_CASE("a body source that fails or lies about its length ends the exchange") {
  TestServer server([](Peer& peer, int) { peer.wait_closed(); });
  const auto transport = make_http_transport({});
  const auto gives = GENERATE(-1, 0, 7, 1 << 30);
  auto r = request("POST");
  r.body_length = 5;
  r.body_source = [&](char*, std::size_t) { return std::int64_t{gives}; };
  const auto call = real_call();
  CHECK(exchange(*transport, server.url(), r, call).outcome.status == KRUX_INTERNAL);
  CHECK(call->end() == WireState::kNothingSent);
  r.body_length = -1;
  CHECK(exchange(*transport, server.url(), r).outcome.status == KRUX_INVALID);
}

TEST_CASE("connections are kept for safe requests to the same origin") {
  TestServer server(always(answer("x")));
  TestServer other(always(answer("y", "200 OK", "Connection: close\r\n")));
  const auto transport = make_http_transport({});
  for (int i = 0; i < 3; ++i) CHECK(get(*transport, server.url()).response.text == "x");
  CHECK(server.connections() == 1);
  for (int i = 0; i < 3; ++i) CHECK(get(*transport, other.url()).response.text == "y");
  CHECK(other.connections() == 3);
}

TEST_CASE("a connection with something left over is not used again") {
  TestServer server(always(answer("x") + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
  const auto transport = make_http_transport({});
  for (int i = 0; i < 3; ++i) CHECK(get(*transport, server.url()).response.text == "x");
  CHECK(server.connections() == 3);
}

TEST_CASE("an idle connection that the service has closed is not used, not even for an unsafe request") {
  std::promise<void> closed;
  TestServer server([&](Peer& peer, int number) {
    peer.read_request();
    peer.write(answer("x"));
    if (number > 0) return;
    peer.cut();
    closed.set_value();
  });
  const auto transport = make_http_transport({});
  CHECK(get(*transport, server.url()).response.text == "x");
  closed.get_future().wait();
  const auto call = real_call();
  CHECK(exchange(*transport, server.url(), request("POST"), call).outcome.status == KRUX_OK);
  CHECK(call->end() == WireState::kAnswered);
}

TEST_CASE("unsafe requests want a fresh or young connection") {
  TestServer server(always(answer("x")));
  TransportOptions options;
  SECTION("young is good enough") {
    const auto transport = make_http_transport(options);
    get(*transport, server.url());
    CHECK(exchange(*transport, server.url(), request("POST")).outcome.status == KRUX_OK);
    CHECK(server.connections() == 1);
  }
  SECTION("old is not") {
    options.idle_unsafe_ms = -1;
    const auto transport = make_http_transport(options);
    get(*transport, server.url());
    CHECK(exchange(*transport, server.url(), request("POST")).outcome.status == KRUX_OK);
    CHECK(server.connections() == 2);
  }
}

TEST_CASE("a safe request on a connection that went stale is sent once more, an unsafe one never") {
  // The first connection answers once and then drops the next request unanswered.
  std::atomic<int> dropped{0};
  TestServer server([&](Peer& peer, int number) {
    peer.read_request();
    peer.write(answer("x"));
    if (peer.read_request().empty()) return;
    if (number == 0) {
      ++dropped;
      peer.reset();
    } else {
      peer.write(answer("again"));
    }
  });
  const auto transport = make_http_transport({});
  CHECK(get(*transport, server.url()).response.text == "x");
  const auto method = GENERATE(as<std::string>{}, "GET", "POST");
  const auto call = real_call();
  const auto second = exchange(*transport, server.url(), request(method), call);
  CHECK(dropped == 1);
  CHECK(second.outcome.status == (method == "GET" ? KRUX_OK : KRUX_NETWORK));
  CHECK(server.connections() == (method == "GET" ? 2 : 1));
  CHECK(call->end() == (method == "GET" ? WireState::kNothingSent : WireState::kOpen));
}

TEST_CASE("a safe request is sent once more only, and not after the first byte of an answer") {
  const auto text = GENERATE(as<std::string>{}, "", "HTTP/1.1 2");
  TestServer server([&](Peer& peer, int number) {
    peer.read_request();
    if (number == 0) {
      peer.write(answer("x"));
      peer.read_request();
    }
    peer.write(text);
  });
  const auto transport = make_http_transport({});
  CHECK(get(*transport, server.url()).outcome.status == KRUX_OK);
  CHECK(get(*transport, server.url()).outcome.status == KRUX_NETWORK);
  CHECK(server.connections() == (text.empty() ? 2 : 1));
}

TEST_CASE("a server that hangs costs no more than the time-out") {
  const auto where = GENERATE(0, 1, 2);
  TestServer server([&](Peer& peer, int) {
    if (where > 0) peer.read_request();
    if (where > 1) peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    peer.wait_closed();
  });
  const auto transport = make_http_transport({});
  auto r = request("GET");
  r.timeout_ms = 60;
  const Stopwatch watch;
  CHECK(exchange(*transport, server.url(), r).outcome.status == KRUX_TIMEOUT);
  CHECK(watch.ms() >= 60);
  CHECK(watch.ms() < 2000);
  CHECK(get(*transport, server.url(), real_call(60)).outcome.status == KRUX_TIMEOUT);
  CHECK(get(*transport, server.url(), real_call(0)).outcome.status == KRUX_TIMEOUT);
}

TEST_CASE("an answer that drips for ever ends with the time-out all the same") {
  TestServer server([](Peer& peer, int) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n");
    while (peer.write("x")) {
    }
  });
  auto r = request("GET");
  r.timeout_ms = 60;
  CHECK(exchange(*make_http_transport({}), server.url(), r).outcome.status == KRUX_TIMEOUT);
}

TEST_CASE("cancelling ends a waiting exchange at once, from any thread") {
  std::promise<void> hanging;
  TestServer server([&](Peer& peer, int) {
    peer.read_request();
    hanging.set_value();
    peer.wait_closed();
  });
  const auto transport = make_http_transport({});
  const auto call = real_call();
  const bool by_end = GENERATE(false, true);
  std::jthread canceller([&] {
    hanging.get_future().wait();
    if (by_end) {
      call->end();
    } else {
      call->cancel();
    }
  });
  const Stopwatch watch;
  const auto got = get(*transport, server.url(), call);
  CHECK(got.outcome.status == KRUX_CANCELLED);
  CHECK(watch.ms() < 5000);
}

TEST_CASE("stopping the transport ends what runs and refuses what comes") {
  std::promise<void> hanging;
  TestServer server([&](Peer& peer, int) {
    peer.read_request();
    hanging.set_value();
    peer.wait_closed();
  });
  const auto transport = make_http_transport({});
  std::jthread stopper([&] {
    hanging.get_future().wait();
    transport->stop();
  });
  CHECK(get(*transport, server.url()).outcome.status == KRUX_UNAVAILABLE);
  stopper.join();
  CHECK(get(*transport, server.url()).outcome.status == KRUX_UNAVAILABLE);
  CHECK(server.connections() == 1);
}

TEST_CASE("a look-up of a name that never ends is abandoned") {
  const auto release = std::make_shared<std::promise<void>>();
  TransportOptions options;
  options.resolve = [wait = release->get_future().share()](const std::string&) -> Resolution {
    wait.wait();
    return {{}, "late"};
  };
  const auto transport = make_http_transport(options);
  CHECK(get(*transport, "https://slow.test/", real_call(50)).outcome.status == KRUX_TIMEOUT);
  const auto call = real_call();
  std::jthread canceller([&] { call->cancel(); });
  CHECK(get(*transport, "https://slow.test/", call).outcome.status == KRUX_CANCELLED);
  release->set_value();
}

TEST_CASE("an exception from the receiver leaves nothing behind") {
  struct Throwing final : HttpSink {
    bool head(int, const HttpHeaders&) override { throw std::runtime_error("sink"); }
    bool body(std::string_view) override { return true; }
  };
  TestServer server(always(answer("x")));
  const auto transport = make_http_transport({});
  const auto call = real_call();
  Throwing sink;
  CHECK_THROWS_WITH(transport->send(call, parse_url(server.url()), request("GET"), {}, sink), "sink");
  call->cancel();
  CHECK(get(*transport, server.url()).response.text == "x");
}

TEST_CASE("headers and methods that could change the request's framing are refused, nothing is sent") {
  TestServer server(always(answer("x")));
  const auto transport = make_http_transport({});
  auto r = request("POST");
  SECTION("method") {
    r.method = GENERATE("", "GE T", "GET\r\nX: y", "CONNECT", "TRACE", "trace", "TRACK");
  }
  SECTION("name") {
    const char* name = GENERATE("", "a b", "a:", "a\r\nb", "Authorization", "cookie", "HOST", "Proxy-Authorization",
                                "Connection", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade");
    r.headers = {{name, "x"}};
  }
  SECTION("value") {
    r.headers = {{"X", GENERATE(as<std::string>{}, "a\r\nEvil: b", "a\n", "a\r", std::string("a\0b", 3), "\x7f")}};
  }
  const auto call = real_call();
  const auto got = exchange(*transport, server.url(), r, call);
  INFO(r.method << ' ' << got.outcome.message);
  CHECK(got.outcome.status == KRUX_INVALID);
  CHECK(server.connections() == 0);
  CHECK(call->end() == WireState::kNothingSent);
}

TEST_CASE("a name is connected to only where it leads to a public or listed address") {
  TestServer server([](Peer& peer, int) { peer.read_some(); });
  TransportOptions options;
  std::vector<std::string> leads_to;
  options.resolve = [&](const std::string&) {
    Resolution r;
    for (const auto& text : leads_to) r.addresses.push_back(*parse_ip(text));
    return r;
  };
  const auto url = "https://rebound.test:" + std::to_string(server.port()) + "/";
  SECTION("private addresses are refused, every one of them") {
    leads_to = {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1", "100.100.100.200"};
    const auto transport = make_http_transport(options);
    const auto got = get(*transport, url);
    CHECK(got.outcome.status == KRUX_NETWORK);
    CHECK_THAT(got.outcome.message, Catch::Contains("private address"));
    CHECK(server.connections() == 0);
  }
  SECTION("a listed one is tried") {
    leads_to = {"10.0.0.1", "127.0.0.1"};
    options.allowed_networks = {"127.0.0.0/8"};
    const auto transport = make_http_transport(options);
    // No TLS there: it was connected to, and no request was sent in the clear.
    const auto got = get(*transport, url);
    CHECK(got.outcome.status == KRUX_NETWORK);
    CHECK_THAT(got.outcome.message, Catch::Contains("TLS"));
    CHECK(server.connections() == 1);
  }
  SECTION("a literal private address is the caller's mistake") {
    const auto transport = make_http_transport(options);
    CHECK(get(*transport, "https://10.0.0.1/").outcome.status == KRUX_INVALID);
    CHECK(get(*transport, "https://[fe80::1]/").outcome.status == KRUX_INVALID);
  }
}

TEST_CASE("names are looked up for every connection") {
  TransportOptions options;
  std::atomic<int> lookups{0};
  options.resolve = [&](const std::string&) -> Resolution {
    ++lookups;
    return {{}, "no such name"};
  };
  const auto transport = make_http_transport(options);
  CHECK_THAT(get(*transport, "https://x.test/").outcome.message, Catch::Contains("no such name"));
  CHECK(get(*transport, "https://x.test/").outcome.status == KRUX_NETWORK);
  CHECK(lookups == 2);
}

TEST_CASE("bad options are refused at once") {
  TransportOptions options;
  options.allowed_networks = {"10.0.0.0/33"};
  CHECK_THROWS_AS(make_http_transport(options), ConfigError);
  options.allowed_networks = {};
  options.extra_ca_file = "/nonexistent/ca.pem";
  CHECK_THROWS_AS(make_http_transport(options), ConfigError);
}

TEST_CASE("the system's resolver knows literal addresses and says why it fails") {
  CHECK(resolve_by_system("127.0.0.1").addresses.at(0).text() == "127.0.0.1");
  const auto bad = resolve_by_system("no..name");
  CHECK(bad.addresses.empty());
  CHECK_FALSE(bad.error.empty());
}

}  // namespace KRUXOS_TEST_FILE
