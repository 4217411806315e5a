#include "host/http/http_server.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>

#include "host/http/raw_client.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace std::string_literals;
using namespace krux::test;

namespace {

/// Says what it was asked.
void echo(const ServerRequest& request, const Respond& respond) {
  ServerResponse response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path + "?" + request.query + " " + request.body;
  respond(std::move(response));
}

HttpLimits short_times() {
  HttpLimits limits;
  limits.header_ms = limits.body_ms = limits.idle_ms = limits.write_ms = 60;
  return limits;
}

struct Served {
  explicit Served(Handler handler = echo, HttpLimits limits = {}, int threads = 1) : server(threads) {
    port = server.listen_tcp("127.0.0.1", 0, std::move(handler), limits).port;
  }
  HttpServer server;
  std::uint16_t port = 0;
};

/// Keeps requests unanswered until it is told to.
class Holder {
 public:
  Handler handler() {
    return [this](const ServerRequest&, Respond respond) {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(respond));
      changed_.notify_all();
    };
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return held_.size() >= count; }));
  }
  std::vector<Respond> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(held_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Respond> held_;
};

}  // namespace

TEST_CASE("requests are taken apart and answered on one connection", "[http]") {
  Served served;
  RawClient client(served.port);
  const auto posted = client.ask(http_post("/a/b?x=1&y=%20", "hello"));
  CHECK(posted.status == 200);
  CHECK(posted.body == "POST /a/b?x=1&y=%20 hello");
  CHECK(posted.headers.at("Content-Type") == "text/plain");
  CHECK(posted.headers.count("Connection") == 0);
  CHECK(client.ask(http_get("/")).body == "GET /? ");
  CHECK(client.ask("DELETE /x HTTP/1.1\r\nHost: h\r\n\r\n").body == "DELETE /x? ");
  CHECK(client.ask("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            .body == "POST /c? abcde");
}

TEST_CASE("HEAD is GET without the body", "[http]") {
  Served served;
  RawClient client(served.port);
  client.send("HEAD /h HTTP/1.1\r\nHost: h\r\n\r\n" + http_get("/next"));
  const auto head = client.receive(true);
  CHECK(head.status == 200);
  CHECK(head.headers.at("Content-Length") == "8");
  CHECK(client.receive().body == "GET /next? ");
}

TEST_CASE("HTTP/1.0 closes unless it asks otherwise", "[http]") {
  Served served;
  RawClient once(served.port);
  const auto answer = once.ask("GET /old HTTP/1.0\r\n\r\n");
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Connection") == "close");
  CHECK(once.is_closed_by_server());
  RawClient kept(served.port);
  CHECK(kept.ask("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").headers.at("Connection") == "keep-alive");
  CHECK(kept.ask("GET /again HTTP/1.0\r\n\r\n").body == "GET /again? ");
}

TEST_CASE("Connection: close is kept", "[http]") {
  Served served;
  RawClient client(served.port);
  CHECK(client.ask(http_get("/", "Connection: close\r\n")).headers.at("Connection") == "close");
  CHECK(client.is_closed_by_server());
}

TEST_CASE("100-continue is said before the body is sent", "[http]") {
  Served served;
  RawClient client(served.port);
  CHECK(client.ask("POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n").status == 100);
  CHECK(client.ask("abc").body == "POST /e? abc");
}

TEST_CASE("pipelined requests are answered one at a time, in order", "[http]") {
  Holder holder;
  Served served(holder.handler());
  RawClient client(served.port);
  client.send(http_get("/1") + http_get("/2") + http_post("/3", "x"));
  for (int i = 1; i <= 3; ++i) {
    holder.wait_for(1);
    const auto held = holder.take();
    CHECK(held.size() == 1);
    ServerResponse response;
    response.body = std::to_string(i);
    held.at(0)(response);
    CHECK(client.receive().body == std::to_string(i));
  }
}

TEST_CASE("what is no request, or not one to serve, is refused and the connection closed", "[http]") {
  struct Row {
    std::string bytes;
    int status;
  };
  const std::string get = "GET / HTTP/1.1\r\n", post = "POST / HTTP/1.1\r\nHost: h\r\n";
  const std::vector<Row> rows{
      {"\x16\x03\x01\x02", 400},
      {"garbage\r\n\r\n", 400},
      {"GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n"s, 400},
      {"GET / HTTP/1.1\nHost: h\n\n", 400},
      {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/1.2\r\nHost: h\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {get + "\r\n", 400},
      {get + "Host: a\r\nHost: b\r\n\r\n", 400},
      {get + "Host h\r\n\r\n", 400},
      {get + "Host: h\r\nBad Name: x\r\n\r\n", 400},
      {get + "Host: h\r\nX: a\x01"
             "b\r\n\r\n",
       400},
      {"GET http://evil/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"TRACE / HTTP/1.1\r\nHost: h\r\n\r\n", 405},
      {"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405},
      {"BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 405},
      {post + "Content-Length: -1\r\n\r\n", 400},
      {post + "Content-Length: 1x\r\n\r\n", 400},
      {post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
      {post + "Content-Length: 1, 1\r\n\r\na", 400},
      {post + "Content-Length: \r\n\r\n", 400},
      {post + "Content-Length: +1\r\n\r\na", 400},
      {post + "Content-Length: 0x1\r\n\r\na", 400},
      {post + "Content-Length: 1 1\r\n\r\na", 400},
      {post + "Content-Length : 1\r\n\r\na", 400},
      {post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {post + "X: a\rTransfer-Encoding: chunked\r\n\r\n", 400},
      {post + "X: a\nContent-Length: 1\n\na", 400},
      {post + "\x0bTransfer-Encoding: chunked\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", 400},
      {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n", 400},
      {post + "Expect: miracles\r\nContent-Length: 1\r\n\r\n", 417},
      {post + "Content-Length: 1048577\r\n\r\n", 413},
      {get + "Host: h\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", 431},
      {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n", 431},
  };
  Served served;
  for (const auto& row : rows) {
    RawClient client(served.port);
    INFO(row.bytes.substr(0, 80));
    // One behind it would be another's where the two ends disagree on where this one ends.
    const auto answer = client.ask(row.bytes + http_get("/smuggled"));
    CHECK(answer.status == row.status);
    CHECK(answer.body.find("\"message\":\"") != std::string::npos);
    client.end_sending();
    CHECK(client.is_closed_by_server());
  }
  CHECK(RawClient(served.port).ask(http_get("/")).status == 200);
}

TEST_CASE("a client that has said all that it will say is answered, and one that breaks off is let go of", "[http]") {
  Served served;
  RawClient half(served.port);
  half.send(http_get("/1") + http_post("/2", "x"));
  half.end_sending();
  CHECK(half.receive().body == "GET /1? ");
  CHECK(half.receive().body == "POST /2? x");
  CHECK(half.is_closed_by_server());
  for (const std::string begun : {"G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: h\r\n",
                                  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc",
                                  "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"}) {
    INFO(begun);
    RawClient broken(served.port);
    broken.send(begun);
    broken.end_sending();
    const auto answer = broken.receive();
    CHECK((answer.status == 0 || answer.status == 400));
    CHECK(broken.is_closed_by_server());
  }
}

TEST_CASE("a body beyond the limit is refused while it is still being sent, chunked too", "[http]") {
  Served served;
  RawClient client(served.port);
  CHECK(client.ask(http_post("/", std::string(1 << 20, 'x'))).body.size() == (1 << 20) + 8);
  RawClient large(served.port);
  CHECK(large.ask(http_post("/", std::string(8 << 20, 'x'))).status == 413);
  RawClient chunked(served.port);
  std::string bytes = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20; ++i) bytes += "10000\r\n" + std::string(65536, 'x') + "\r\n";
  CHECK(chunked.ask(bytes).status == 413);
}

TEST_CASE("every byte string is survived", "[http]") {
  Served served;
  std::uint64_t seed = 42;
  const std::string good = http_post("/x?y=z", R"({"a":[1,2,3]})", "Transfer-Encoding: chunked\r\n");
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 1 + round % 6; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      bytes[(seed >> 33) % bytes.size()] = static_cast<char>(seed >> 25);
    }
    RawClient client(served.port);
    client.send(bytes);
    client.end_sending();
    client.receive();
  }
  CHECK(RawClient(served.port).ask(http_get("/")).status == 200);
}

TEST_CASE("slow clients are told, and closed", "[http]") {
  Served served(echo, short_times());
  RawClient silent(served.port);
  CHECK(silent.is_closed_by_server());
  RawClient header(served.port);
  CHECK(header.ask("GET / HT").status == 408);
  CHECK(header.is_closed_by_server());
  RawClient body(served.port);
  const auto answer = body.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf");
  CHECK(answer.status == 408);
  CHECK(answer.headers.at("Connection") == "close");
  RawClient idle(served.port);
  CHECK(idle.ask(http_get("/")).status == 200);
  CHECK(idle.is_closed_by_server());
}

TEST_CASE("a byte now and then does not keep a request open", "[http]") {
  Served served(echo, short_times());
  RawClient client(served.port);
  int sent = 0;
  std::array<char, 1> peeked;
  while (sent < 400 && ::recv(client.fd(), peeked.data(), 1, MSG_DONTWAIT | MSG_PEEK) < 0 && client.send("G")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++sent;
  }
  CHECK(sent < 400);
  CHECK(client.receive().status == 408);
}

TEST_CASE("a long answer arrives whole", "[http]") {
  const std::string body(8 << 20, 'b');
  Served served([&](const ServerRequest&, const Respond& respond) {
    ServerResponse response;
    response.body = body;
    respond(std::move(response));
  });
  RawClient client(served.port);
  client.send(http_get("/1") + http_get("/2"));
  CHECK(client.receive().body == body);
  CHECK(client.receive().body == body);
}

TEST_CASE("a client that stops reading is closed", "[http]") {
  auto limits = short_times();
  std::binary_semaphore answering(0);
  Served served(
      [&](const ServerRequest&, const Respond& respond) {
        answering.release();
        ServerResponse response;
        response.body = std::string(32 << 20, 'b');
        respond(std::move(response));
      },
      limits);
  RawClient client(served.port);
  client.send(http_get("/"));
  answering.acquire();
  CHECK(served.server.connections() == 1);
  for (int i = 0; i < 4000 && served.server.connections() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(served.server.connections() == 0);
}

TEST_CASE("an answer that is forgotten, or a handler that throws, is a 500", "[http]") {
  Served served([](const ServerRequest& request, const Respond& respond) {
    if (request.path == "/throw") throw std::runtime_error("on purpose");
    if (request.path == "/twice") {
      respond(ServerResponse{});
      respond(error_response(ErrorCode::kInternal, "second"));
    }
  });
  RawClient client(served.port);
  CHECK(client.ask(http_get("/forget")).status == 500);
  CHECK(client.ask(http_get("/throw")).status == 500);
  CHECK(client.ask(http_get("/twice")).status == 200);
  CHECK(client.ask(http_get("/forget")).status == 500);
}

TEST_CASE("header values cannot begin a new line", "[http]") {
  Served served([](const ServerRequest&, const Respond& respond) {
    ServerResponse response;
    response.headers.emplace_back("X-Text", "a\r\nX-Evil: b");
    respond(std::move(response));
  });
  const auto answer = RawClient(served.port).ask(http_get("/"));
  CHECK(answer.headers.at("X-Text") == "aX-Evil: b");
  CHECK(answer.headers.count("X-Evil") == 0);
}

TEST_CASE("stopping lets what is under way be answered", "[http]") {
  Holder holder;
  Served served(holder.handler(), {}, 2);
  RawClient busy(served.port), idle(served.port);
  busy.send(http_get("/"));
  holder.wait_for(1);
  std::thread answering([&] {
    CHECK(idle.is_closed_by_server());
    holder.take().at(0)(ServerResponse{});
  });
  served.server.stop(20'000);
  answering.join();
  const auto answer = busy.receive();
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Connection") == "close");
  CHECK_FALSE(RawClient(served.port).connected());
}

TEST_CASE("an answer may come after the server is gone", "[http]") {
  Holder holder;
  std::vector<Respond> late;
  {
    Served served(holder.handler(), {}, 2);
    RawClient client(served.port);
    client.send(http_get("/"));
    holder.wait_for(1);
    late = holder.take();
    served.server.stop(0);
    CHECK(client.is_closed_by_server());
  }
  late.at(0)(ServerResponse{});
}

}  // namespace KRUXOS_TEST_FILE
