#include <atomic>
#include <catch2/catch.hpp>

#include "host/gateway/http_server.hpp"
#include "host/gateway/raw_client.hpp"

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
