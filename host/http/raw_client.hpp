// Tests' own HTTP client: the bytes are the test's, good or bad. Blocking, with a time limit so that a silent server
// fails a test instead of hanging it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace krux::test {

struct RawAnswer {
  int status = 0;  ///< 0: the connection ended without one
  std::map<std::string, std::string> headers;
  std::string body;
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  explicit RawClient(const std::filesystem::path& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  ~RawClient() { close(); }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_), input_(std::move(other.input_)) {}
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// False when the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  /// The next answer; `head_only` for HEAD, whose Content-Length announces what does not come.
  RawAnswer receive(bool head_only = false) {
    RawAnswer answer;
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return answer;
    }
    std::string head = input_.substr(0, end + 2);
    input_.erase(0, end + 4);
    answer.status = std::stoi(head.substr(9, 3));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const auto line_end = head.find("\r\n", at), colon = head.find(": ", at);
      answer.headers[head.substr(at, colon - at)] = head.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    const auto length = answer.headers.find("Content-Length");
    const std::size_t size = head_only || length == answer.headers.end() ? 0 : std::stoul(length->second);
    while (input_.size() < size) {
      if (!more()) break;
    }
    answer.body = input_.substr(0, size);
    input_.erase(0, size);
    return answer;
  }
  RawAnswer ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }
  /// The next bytes as they are; fewer where the server closes before.
  std::string receive_bytes(std::size_t size) {
    while (input_.size() < size && more()) continue;
    auto bytes = input_.substr(0, size);
    input_.erase(0, size);
    return bytes;
  }
  /// A chunked body, put together. Cut where the server closes before its end.
  std::string receive_chunks(bool* whole = nullptr) {
    std::string body;
    for (;;) {
      while (input_.find("\r\n") == std::string::npos) {
        if (whole) *whole = false;
        if (!more()) return body;
      }
      const auto size = std::stoul(input_, nullptr, 16);
      receive_bytes(input_.find("\r\n") + 2);
      body += receive_bytes(size);
      if (whole) *whole = size == 0;
      if (receive_bytes(2) != "\r\n" || size == 0) return body;
    }
  }
  /// Whether the server has closed by now, or something has come.
  bool has_news() const {
    char byte = 0;
    return !input_.empty() || ::recv(fd_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN;
  }
  /// Whether the server closes, before anything else comes.
  bool is_closed_by_server() {
    errno = 0;
    return input_.empty() && !more() && errno != EAGAIN;  // which is nothing at all within 20 s
  }
  /// Whether it ended with a reset, once that has been come to.
  bool was_reset() const { return was_reset_; }
  /// Ends it so.
  void reset() {
    const linger at_once{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  void connect(const sockaddr* address, socklen_t size) {
    const timeval limit{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    connected_ = ::connect(fd_, address, size) == 0;
  }
  bool more() {
    std::array<char, 65536> chunk;
    const auto n = ::recv(fd_, chunk.data(), chunk.size(), 0);
    if (n > 0) input_.append(chunk.data(), static_cast<std::size_t>(n));
    if (n < 0) was_reset_ = errno == ECONNRESET;
    return n > 0;
  }

  int fd_ = -1;
  bool connected_ = false, was_reset_ = false;
  std::string input_;
};

inline std::string http_post(std::string_view path, std::string_view body, std::string_view more_headers = {}) {
  std::string out = "POST ";
  out.append(path).append(" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
  out.append(more_headers).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return out.append(body);
}

inline std::string http_get(std::string_view path, std::string_view more_headers = {}) {
  std::string out = "GET ";
  return out.append(path).append(" HTTP/1.1\r\nHost: localhost\r\n").append(more_headers).append("\r\n");
}

}  // namespace krux::test
