#include <atomic>
#include <catch2/catch.hpp>

#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("a body in another coding than chunked is refused, and the connection closed", "[http]") {
  std::atomic<int> handled{0};
  HttpServer server;
  const auto port = server
                        .listen_tcp("127.0.0.1", 0,
                                    [&](const ServerRequest& request, const Respond& respond) {
                                      ++handled;
                                      ServerResponse response;
                                      response.body = request.body;
                                      respond(std::move(response));
                                    })
                        .port;
  const std::string body = "3\r\nabc\r\n0\r\n\r\n";
  for (const std::string coding : {"xchunked", "identity", "gzip", "gzip, chunked", "chunked, chunked", "chunked, gzip",
                                   "chunked;q=1", "\"chunked\"", "", "gzip\r\nTransfer-Encoding: chunked"}) {
    RawClient client(port);
    INFO(coding);
    std::string request = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ";
    request.append(coding).append("\r\n\r\n").append(body);
    const auto answer = client.ask(request);
    CHECK(answer.status == 501);
    CHECK(answer.body.find("only chunked is known") != std::string::npos);
    CHECK(answer.headers.at("Connection") == "close");
    client.end_sending();
    CHECK(client.is_closed_by_server());
  }
  CHECK(handled == 0);
  RawClient client(port);
  CHECK(client.ask("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n" + body).body == "abc");
  CHECK(client.ask(http_post("/x", "de")).body == "de");
}

namespace {

/// Sends `more` again and again until the server says something, at most `most_bytes` of it. What it says then.
RawAnswer without_end(std::uint16_t port, const std::string& begin, const std::string& more, std::size_t most_bytes) {
  RawClient client(port);
  client.send(begin);
  for (std::size_t sent = 0; sent < most_bytes && !client.has_news() && client.send(more);) sent += more.size();
  CHECK(client.has_news());
  return client.receive();
}

}  // namespace

TEST_CASE("what has no end of its own is refused soon, without a key, on every server", "[http]") {
  HttpServer server;
  const auto port =
      server.listen_tcp("127.0.0.1", 0, [](const ServerRequest&, const Respond& respond) { respond(ServerResponse{}); })
          .port;
  const std::string chunked = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string page(4096, 'x');
  constexpr std::size_t kMuch = 64 << 20;
  CHECK(without_end(port, chunked + "5;", page, kMuch).status == 431);
  CHECK(without_end(port, chunked + "5;a=\"", page, kMuch).status == 431);
  CHECK(without_end(port, chunked + "0\r\nX: ", page, kMuch).status == 431);
  CHECK(without_end(port, chunked + "0\r\n", "X: " + std::string(100, 'x') + "\r\n", kMuch).status == 431);
  CHECK(without_end(port, chunked, "1;abcdefgh\r\nx\r\n", kMuch).status == 431);
  CHECK(without_end(port, chunked + "5", "0", kMuch).status == 400);
  CHECK(without_end(port, "GET /", page, kMuch).status == 431);
  // Whole lines at a time.
  CHECK(without_end(port, "GET / HTTP/1.1\r\n", "X: " + std::string(1019, 'x') + "\r\n", kMuch).status == 431);
  RawClient client(port);
  CHECK(client.ask(chunked + "1;a=b\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n").status == 200);
  CHECK(client.ask(http_get("/")).status == 200);
}

}  // namespace KRUXOS_TEST_FILE
