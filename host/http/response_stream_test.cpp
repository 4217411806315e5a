// Answers that come in parts: how they come, over which connections, from which threads.
#include "host/http/response_stream.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "host/http/response_stream_fixture.hpp"
#include "host/http/tls_client_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("parts of an answer come as they are sent, and the connection goes on behind its end", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  client.send(http_get("/stream"));
  const auto head = client.receive();
  CHECK(head.status == 200);
  CHECK(head.headers.at("Content-Type") == "text/event-stream");
  CHECK(head.headers.at("Transfer-Encoding") == "chunked");
  CHECK(head.headers.count("Content-Length") == 0);
  CHECK(head.headers.count("Connection") == 0);
  CHECK_FALSE(client.has_news());
  const auto stream = served.opened->take();
  CHECK(stream->send("data: 1\n\n"));
  expect(client, "9\r\ndata: 1\n\n\r\n");
  CHECK(stream->send(""));  // which would be the end
  CHECK(stream->send(std::string(26, 'x')));
  expect(client, "1a\r\n" + std::string(26, 'x') + "\r\n");
  CHECK_FALSE(client.has_news());
  stream->end();
  expect(client, "0\r\n\r\n");
  CHECK_FALSE(stream->send("late"));
  stream->end();
  CHECK(client.ask(http_post("/whole", "body")).body == "/whole body");
  // Again, with parts that wait for each other and the end with them.
  const auto again = served.open(client);
  CHECK(again->send("ab"));
  CHECK(again->send("cd"));
  again->end();
  CHECK(client.receive_chunks() == "abcd");
  CHECK(client.ask(http_get("/whole")).status == 200);
}

TEST_CASE("parts that are too long for one piece come whole and in order", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  const auto stream = served.open(client);
  std::string sent;
  for (int i = 0; i < 100'000; ++i) sent += std::to_string(i) + ",";
  CHECK(stream->send(sent));
  stream->end();
  CHECK(client.receive_chunks() == sent);
  CHECK(client.ask(http_get("/whole")).status == 200);
}

TEST_CASE("to an HTTP/1.0 client parts come as they are, and their end is the connection's", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto head = client.receive();
  CHECK(head.headers.count("Transfer-Encoding") == 0);
  CHECK(head.headers.count("Content-Length") == 0);
  CHECK(head.headers.at("Connection") == "close");
  auto stream = served.opened->take();
  CHECK(stream->send("one"));
  expect(client, "one");
  SECTION("that it was cut shows by a reset") {
    stream.reset();
    CHECK(client.is_closed_by_server());
    CHECK(client.was_reset());
  }
  SECTION("it ends") {
    CHECK(stream->send("two"));
    stream->end();
    expect(client, "two");
    CHECK(client.is_closed_by_server());
    CHECK_FALSE(client.was_reset());
  }
}

TEST_CASE("a HEAD gets the head alone, and nobody a stream", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n" + http_get("/whole"));
  CHECK(client.receive(true).headers.at("Transfer-Encoding") == "chunked");
  CHECK(client.receive().body == "/whole ");
  CHECK(served.opened->streams.empty());
}

TEST_CASE("what a client sends meanwhile is answered behind the end", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  const bool at_once = GENERATE(true, false);
  client.send(http_get("/stream") + (at_once ? http_post("/whole", "1") : ""));
  CHECK(client.receive().status == 200);
  const auto stream = served.opened->take();
  if (!at_once) client.send(http_post("/whole", "1"));
  client.send(http_get("/stream"));
  client.send("POST /whole HTTP/1.1\r\nHost: h\r\nContent-Le");
  CHECK(stream->send("a"));
  expect(client, "1\r\na\r\n");
  stream->end();
  expect(client, "0\r\n\r\n");
  CHECK(client.receive().body == "/whole 1");
  CHECK(client.receive().status == 200);
  served.opened->take()->end();
  expect(client, "0\r\n\r\n");
  CHECK(client.ask("ngth: 2\r\n\r\nok").body == "/whole ok");
}

TEST_CASE("behind the end requests are answered one after the other, also of a client that says no more", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  const auto stream = served.open(client, http_get("/stream") + http_get("/later"));
  stream->end();
  expect(client, "0\r\n\r\n");
  const auto respond = served.opened->take_waiting();
  SECTION("it sends the next while one is under way") {
    client.send(http_post("/whole", "next"));
    CHECK(RawClient(served.port).ask(http_get("/whole")).status == 200);  // it has come by now
    CHECK_FALSE(client.has_news());
    respond(ServerResponse{});
    CHECK(client.receive().status == 200);
    CHECK(client.receive().body == "/whole next");
    CHECK(client.ask(http_get("/whole")).body == "/whole ");
  }
  SECTION("it says no more") {
    client.end_sending();
    CHECK(RawClient(served.port).ask(http_get("/whole")).status == 200);
    respond(ServerResponse{});
    CHECK(client.receive().status == 200);
    CHECK(client.is_closed_by_server());
  }
}

TEST_CASE("many streams, of clients that stay and clients that go, from several threads", "[stream]") {
  constexpr int kClients = 24, kParts = 200;
  Streaming served({}, std::nullopt, {}, 2);
  std::atomic<int> ended{0}, gone{0}, whole{0};
  std::vector<std::thread> senders, clients;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] {
      while (const auto stream = served.opened->take_any()) {
        stream->when_gone([&] { ++gone; });
        std::thread beside([&] {
          for (int part = 0; part < kParts; ++part) stream->send("b");
        });
        for (int part = 0; part < kParts; ++part) stream->send("a");
        beside.join();
        stream->end();
        ++ended;
      }
    });
  }
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      RawClient client(served.port);
      client.send(http_get("/stream"));
      if (i % 4 == 3) return;
      client.receive();
      const auto body = client.receive_chunks();
      const bool all = body.size() == 2 * kParts && std::count(body.begin(), body.end(), 'a') == kParts;
      if (all && client.ask(http_get("/whole")).status == 200) ++whole;
    });
  }
  for (auto& client : clients) client.join();
  while (served.server->connections() > 0) std::this_thread::yield();
  served.opened->close();
  for (auto& sender : senders) sender.join();
  CHECK(whole == kClients - kClients / 4);
  CHECK(ended >= whole);
  CHECK(gone <= kClients / 4);
}

namespace {

/// Whose requests they are is in their X-Agent.
std::variant<Admitted, Refused> admit_named(const ServerRequest& head) {
  return Admitted{std::string(head.header("x-agent").value_or(""))};
}

std::string get_as(const std::string& agent, const std::string& path) {
  return http_get(path, "X-Agent: " + agent + "\r\n");
}

}  // namespace

TEST_CASE("an answer in parts over TLS", "[stream]") {
  const ServerCertificate certificate;
  Streaming served({}, certificate.files());
  TlsClient client(served.port);
  client.send(http_get("/stream"));
  CHECK(client.receive_to("\r\n\r\n").find("chunked") != std::string::npos);
  auto stream = served.opened->take();
  Signal gone;
  stream->when_gone(gone.setter());
  CHECK(stream->send("one"));
  CHECK(client.receive_to("one\r\n") == "3\r\none\r\n");
  SECTION("it ends, and what was sent meanwhile is answered") {
    client.send(http_get("/whole"));
    CHECK(stream->send(std::string(200'000, 'x')));
    stream->end();
    CHECK(client.receive_to("0\r\n\r\n").size() > 200'000);
    CHECK(client.receive_to("/whole ").find("200 OK") != std::string::npos);
    client.send(http_get("/whole"));
    CHECK(client.receive_to("/whole ").find("200 OK") != std::string::npos);
  }
  SECTION("it is cut") {
    stream.reset();
    CHECK(client.has_ended());
  }
  SECTION("the client goes") {
    client.shut_down();
    gone.wait();
    CHECK_FALSE(stream->send("two"));
  }
}

TEST_CASE("parts count for their agent's pace, each as a message and long ones as several", "[stream]") {
  HttpLimits limits;
  limits.pace = {10, 10, 5'000};
  Streaming served(limits, std::nullopt, admit_named);
  RawClient client(served.port), other(served.port);
  const auto stream = served.open(client, get_as("A", "/stream"));
  for (int i = 1; i < 10; ++i) {
    CHECK(stream->send("x"));
    expect(client, "1\r\nx\r\n");
  }
  CHECK(stream->send(std::string(32 << 10, 'x')));
  CHECK(other.ask(get_as("B", "/whole")).status == 200);
  CHECK_FALSE(client.has_news());
  const auto before = served.clock.boot_ms();
  served.until([&] { return client.has_news(); });
  CHECK(served.clock.boot_ms() - before >= 300);
  expect(client, "8000\r\n" + std::string(32 << 10, 'x') + "\r\n");
  served.clock.advance(10'000);
  CHECK(stream->send("y"));
  expect(client, "1\r\ny\r\n");
}

TEST_CASE("what is held of an answer in parts goes out when the server stops, and its client's end is seen",
          "[stream]") {
  HttpLimits limits;
  limits.pace = {10, 1, 5'000};
  Streaming served(limits, std::nullopt, admit_named);
  RawClient client(served.port);
  const auto stream = served.open(client, get_as("A", "/stream"));
  Signal gone;
  stream->when_gone(gone.setter());
  CHECK(stream->send("held"));
  SECTION("the server stops") {
    std::thread stopping([&] { served.server->stop(20'000); });
    bool whole = true;
    CHECK(client.receive_chunks(&whole) == "held");
    CHECK_FALSE(whole);
    client.close();
    stopping.join();
  }
  SECTION("the client goes") {
    client.close();
    gone.wait();
  }
  CHECK(gone.times() == 1);
}

TEST_CASE("strangers take no stream away, and an agent gives up its oldest where it has no idle connection",
          "[stream]") {
  HttpLimits limits;
  limits.connections = 16;  // four of an agent
  Streaming served(limits, std::nullopt, admit_named);
  std::vector<RawClient> agents, strangers;
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(served.open(agents.emplace_back(served.port), get_as("A", "/stream")));
  CHECK(agents.emplace_back(served.port).ask(get_as("A", "/whole")).status == 200);
  for (int i = 0; i < 40; ++i) strangers.emplace_back(served.port).send("GET");
  for (auto& stream : streams) CHECK(stream->send("x"));
  CHECK(RawClient(served.port).ask(get_as("A", "/whole")).status == 200);
  CHECK(agents[3].is_closed_by_server());
  streams.push_back(served.open(agents.emplace_back(served.port), get_as("A", "/stream")));
  Signal gone;
  streams[0]->when_gone(gone.setter());
  CHECK(RawClient(served.port).ask(get_as("A", "/whole")).status == 200);
  gone.wait();
  CHECK_FALSE(streams[0]->send("x"));
  for (std::size_t i = 1; i < streams.size(); ++i) CHECK(streams[i]->send("x"));
}

TEST_CASE("parts go out while the loop's thread is lent, whoever sends them", "[stream]") {
  DrivenClock clock;
  const auto opened = std::make_shared<Opened>();
  std::promise<void> let_go;
  const auto until = let_go.get_future().share();
  Stream stream;
  HttpServer server(1, HttpServer::Begin::kAtOnce, &clock, HttpServer::Handlers::kTakeTime);
  const auto port = server
                        .listen_tcp("127.0.0.1", 0,
                                    [&](const ServerRequest& request, const Respond& respond) {
                                      ServerResponse response;
                                      if (request.path == "/stream") response.stream = Streaming::keep(opened);
                                      if (request.path == "/hang") {
                                        stream->send("from there");
                                        until.wait();
                                      }
                                      respond(std::move(response));
                                    })
                        .port;
  RawClient client(port), hanging(port);
  client.send(http_get("/stream"));
  CHECK(client.receive().status == 200);
  stream = opened->take();
  clock.advance(60);
  hanging.send(http_get("/hang"));
  expect(client, "a\r\nfrom there\r\n");
  CHECK(stream->send("from here"));
  expect(client, "9\r\nfrom here\r\n");
  CHECK_FALSE(hanging.has_news());
  let_go.set_value();
  CHECK(hanging.receive().status == 200);
}

}  // namespace KRUXOS_TEST_FILE
