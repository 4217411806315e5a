#include "support/http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace krux::test {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

int open_socket(const sockaddr* address, socklen_t size, std::chrono::milliseconds timeout, const std::string& name) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  const timeval limit{static_cast<time_t>(timeout.count() / 1000),
                      static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd, address, size) != 0) {
    const int reason = errno;
    close(fd);
    errno = reason;
    fail("cannot connect to " + name);
  }
  return fd;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string trim(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

HttpReply parse_head(const std::string& head) {
  HttpReply reply;
  std::size_t at = head.find("\r\n");
  if (head.rfind("HTTP/1.", 0) != 0 || head.size() < 12) throw std::runtime_error("not an HTTP reply: " + head);
  reply.status = std::stoi(head.substr(9, 3));
  while (at != std::string::npos && at + 2 < head.size()) {
    const std::size_t end = std::min(head.find("\r\n", at + 2), head.size());
    const std::string line = head.substr(at + 2, end - at - 2);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) reply.headers[lower(line.substr(0, colon))] = trim(line.substr(colon + 1));
    at = end;
  }
  return reply;
}

HttpReply exchange(Connection connection, const std::string& request, const std::string& method) {
  connection.send(request);
  return connection.read_reply(method == "HEAD");
}

}  // namespace

Connection::Connection(std::uint16_t port, std::chrono::milliseconds timeout) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  fd_ = open_socket(reinterpret_cast<const sockaddr*>(&address), sizeof address, timeout,
                    "127.0.0.1:" + std::to_string(port));
}

Connection::Connection(const std::string& socket_path, std::chrono::milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) throw std::runtime_error("socket path too long: " + socket_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  fd_ = open_socket(reinterpret_cast<const sockaddr*>(&address), sizeof address, timeout, socket_path);
}

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

void Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

void Connection::finish_sending() {
  shutdown(fd_, SHUT_WR);
}

void Connection::reset() {
  const linger at_once{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(fd_);
  fd_ = -1;
}

std::string Connection::read_some() {
  if (!unread_.empty()) return std::exchange(unread_, {});
  std::string bytes(65536, '\0');
  for (;;) {
    const ssize_t size = recv(fd_, bytes.data(), bytes.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail("receive");
    bytes.resize(static_cast<std::size_t>(size));
    return bytes;
  }
}

std::string Connection::read_to_end() {
  std::string all;
  for (std::string part = read_some(); !part.empty(); part = read_some()) all += part;
  return all;
}

std::string Connection::read_until(std::string_view delimiter) {
  std::string text;
  std::size_t end;
  while ((end = text.find(delimiter)) == std::string::npos) {
    const std::string part = read_some();
    if (part.empty()) throw std::runtime_error("the connection ended within a reply: " + text.substr(0, 200));
    text += part;
  }
  unread_ = text.substr(end + delimiter.size());
  return text.substr(0, end);
}

std::string Connection::read_exactly(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    const std::string part = read_some();
    if (part.empty()) throw std::runtime_error("the connection ended within a body");
    bytes += part;
  }
  unread_ = bytes.substr(size);
  bytes.resize(size);
  return bytes;
}

std::string Connection::read_chunks() {
  std::string body;
  for (;;) {
    const std::size_t size = std::stoul(read_until("\r\n"), nullptr, 16);
    if (size == 0) break;
    body += read_exactly(size);
    read_exactly(2);
  }
  while (!read_until("\r\n").empty()) continue;  // trailers
  return body;
}

HttpReply Connection::read_reply(bool to_head_request) {
  HttpReply reply = parse_head(read_until("\r\n\r\n"));
  const bool bodiless = to_head_request || reply.status == 204 || reply.status == 304 || reply.status / 100 == 1;
  if (bodiless) return reply;
  if (lower(reply.header("transfer-encoding")) == "chunked")
    reply.body = read_chunks();
  else if (reply.headers.count("content-length"))
    reply.body = read_exactly(std::stoul(reply.header("content-length")));
  else
    reply.body = read_to_end();
  return reply;
}

std::string format_request(const std::string& method, const std::string& path, const Headers& headers,
                           std::string_view body) {
  Headers complete;
  for (const auto& [name, value] : headers) complete[lower(name)] = value;
  complete.try_emplace("host", "localhost");
  complete.try_emplace("connection", "close");
  if (!body.empty() || method == "POST") complete.try_emplace("content-length", std::to_string(body.size()));
  std::string request = method + " " + path + " HTTP/1.1\r\n";
  for (const auto& [name, value] : complete) request += name + ": " + value + "\r\n";
  return request + "\r\n" + std::string(body);
}

HttpReply http_request(std::uint16_t port, const std::string& method, const std::string& path, const Headers& headers,
                       std::string_view body, std::chrono::milliseconds timeout) {
  return exchange(Connection(port, timeout), format_request(method, path, headers, body), method);
}

HttpReply http_request(const std::string& socket_path, const std::string& method, const std::string& path,
                       const Headers& headers, std::string_view body, std::chrono::milliseconds timeout) {
  return exchange(Connection(socket_path, timeout), format_request(method, path, headers, body), method);
}

std::string form_encode(const std::map<std::string, std::string>& fields) {
  static const char* const kHex = "0123456789ABCDEF";
  const auto encode = [](const std::string& text) {
    std::string encoded;
    for (unsigned char c : text) {
      if (std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
        encoded += static_cast<char>(c);
      else
        encoded += {'%', kHex[c >> 4], kHex[c & 15]};
    }
    return encoded;
  };
  std::string form;
  for (const auto& [name, value] : fields) form += (form.empty() ? "" : "&") + encode(name) + "=" + encode(value);
  return form;
}

}  // namespace krux::test
