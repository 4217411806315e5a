// A small blocking HTTP/1.1 client for tests, on plain sockets, to the loopback interface or a Unix socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace krux::test {

using Headers = std::map<std::string, std::string>;

struct HttpReply {
  int status = 0;
  Headers headers;  // names in lower case
  std::string body;

  std::string header(const std::string& lower_case_name) const {
    auto found = headers.find(lower_case_name);
    return found == headers.end() ? "" : found->second;
  }
};

// One TCP connection to 127.0.0.1, or one to a Unix socket, for tests that need the bytes in their own hands. Every
// call throws std::runtime_error when the connection breaks or the time is up.
class Connection {
 public:
  explicit Connection(std::uint16_t port, std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));
  explicit Connection(const std::string& socket_path,
                      std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));
  Connection(Connection&& other) noexcept : fd_(other.fd_), unread_(std::move(other.unread_)) { other.fd_ = -1; }
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  void send(std::string_view bytes);
  void finish_sending();    // the peer reads an end of file; answers still arrive
  std::string read_some();  // at least one byte; empty at the end of the stream
  std::string read_to_end();
  // One reply, framed by Content-Length, by chunks or by the connection's end. May be called again for the next one.
  HttpReply read_reply(bool to_head_request = false);
  void reset();  // closes with a TCP reset
  int fd() const { return fd_; }

 private:
  std::string read_until(std::string_view delimiter);
  std::string read_exactly(std::size_t size);
  std::string read_chunks();

  int fd_;
  std::string unread_;
};

// The bytes of a request. Host, Content-Length (when there is a body or the method is POST) and Connection: close are
// added unless `headers` has them.
std::string format_request(const std::string& method, const std::string& path, const Headers& headers,
                           std::string_view body);

// One request on a connection of its own.
HttpReply http_request(std::uint16_t port, const std::string& method, const std::string& path,
                       const Headers& headers = {}, std::string_view body = {},
                       std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));
HttpReply http_request(const std::string& socket_path, const std::string& method, const std::string& path,
                       const Headers& headers = {}, std::string_view body = {},
                       std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));

// For application/x-www-form-urlencoded bodies and query strings.
std::string form_encode(const std::map<std::string, std::string>& fields);

}  // namespace krux::test
