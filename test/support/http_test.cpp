#include "support/http.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

// Answers one connection with fixed bytes and keeps what it was sent.
class OneShotServer {
 public:
  explicit OneShotServer(std::string answer) : answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen_on(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  OneShotServer(std::string answer, const std::string& path) : answer_(std::move(answer)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    listen_on(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  ~OneShotServer() {
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }

  std::string received() {
    thread_.join();
    return received_;
  }

  std::uint16_t port = 0;

 private:
  void listen_on(int family, const sockaddr* address, socklen_t size) {
    listener_ = socket(family, SOCK_STREAM, 0);
    REQUIRE(bind(listener_, address, size) == 0);
    REQUIRE(listen(listener_, 1) == 0);
    thread_ = std::thread([this] {
      const int peer = accept(listener_, nullptr, nullptr);
      char bytes[4096];
      const ssize_t got = recv(peer, bytes, sizeof bytes, 0);
      if (got > 0) received_.assign(bytes, static_cast<std::size_t>(got));
      send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      close(peer);
    });
  }

  std::string answer_, received_;
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a request is complete and its reply is read by Content-Length") {
  OneShotServer server("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-Name:  Value \r\n\r\nhello beyond");
  const HttpReply reply = http_request(server.port, "POST", "/path?q=1", {{"Authorization", "Bearer t"}}, "body");
  CHECK(reply.status == 201);
  CHECK(reply.body == "hello");
  CHECK(reply.header("x-name") == "Value");
  CHECK(reply.header("absent").empty());
  CHECK(server.received() ==
        "POST /path?q=1 HTTP/1.1\r\nauthorization: Bearer t\r\nconnection: close\r\ncontent-length: 4\r\n"
        "host: localhost\r\n\r\nbody");
}

TEST_CASE("chunked replies and replies that end with the connection are read") {
  OneShotServer chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  CHECK(http_request(chunked.port, "GET", "/").body == "abcde");
  OneShotServer open("HTTP/1.1 200 OK\r\n\r\nto the end");
  CHECK(http_request(open.port, "GET", "/").body == "to the end");
}

TEST_CASE("a reply that is cut off is an error") {
  OneShotServer body("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort");
  CHECK_THROWS_WITH(http_request(body.port, "GET", "/"), Catch::Contains("ended within a body"));
  OneShotServer head("HTTP/1.1 200 OK\r\nContent-");
  CHECK_THROWS_WITH(http_request(head.port, "GET", "/"), Catch::Contains("ended within a reply"));
  OneShotServer other("SSH-2.0-OpenSSH\r\n\r\n");
  CHECK_THROWS_WITH(http_request(other.port, "GET", "/"), Catch::Contains("not an HTTP reply"));
}

TEST_CASE("a Unix socket is spoken to like a port") {
  const std::string path = "/tmp/krux-http-test-" + std::to_string(getpid());
  unlink(path.c_str());
  {
    OneShotServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", path);
    CHECK(http_request(path, "GET", "/health").body == "ok");
  }
  unlink(path.c_str());
  CHECK_THROWS_WITH(http_request(path, "GET", "/health"), Catch::Contains("cannot connect to " + path));
}

TEST_CASE("form fields are percent-encoded") {
  CHECK(form_encode({{"a b", "x&y=z"}, {"n", "\xC3\xA9+~"}}) == "a%20b=x%26y%3Dz&n=%C3%A9%2B~");
}

}  // namespace KRUXOS_TEST_FILE
