// A scripted server for tests: real sockets, whatever misbehaviour a test writes down.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/net/test_tls.hpp"

struct ssl_st;

namespace krux::test {

/// One accepted connection, on a thread of its own. Its end closes it.
class Peer {
 public:
  Peer(int fd, ssl_st* tls) : fd_(fd), tls_(tls) {}
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Reads one request with its Content-Length body; empty when the client closed instead.
  std::string read_request();
  /// What has arrived, up to `most` bytes; empty when the client closed.
  std::string read_some(std::size_t most = 65536);
  bool write(std::string_view bytes);
  /// Blocks until the client closes (or the server stops).
  void wait_closed();
  /// Closes so that the client gets a reset.
  void reset();
  /// Ends the stream without TLS's closing message.
  void cut();

 private:
  friend class TestServer;
  void interrupt();

  std::mutex mutex_;  ///< of fd_'s end, against interrupt()
  int fd_;
  ssl_st* tls_;
};

/// Listens on 127.0.0.1 until it goes. `script` runs once for every connection that completes its handshake, with the
/// connection's number from 0.
class TestServer {
 public:
  using Script = std::function<void(Peer&, int number)>;
  explicit TestServer(Script script, const TlsIdentity* tls = nullptr);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path = "/") const;
  /// Accepted so far.
  int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int fd, int number);

  const Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::shared_ptr<struct ssl_ctx_st> tls_;
  std::mutex mutex_;
  std::list<Peer*> open_;
  bool stopping_ = false;
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

/// A port of 127.0.0.1 that refuses connections.
std::uint16_t refusing_port();

/// A whole answer with that body.
std::string answer(std::string_view body, std::string_view status = "200 OK", std::string_view more_headers = "");

}  // namespace krux::test
