#include "core/net/test_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

namespace krux::test {
namespace {

int listen_on_loopback(std::uint16_t& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("cannot listen");
  }
  port = ntohs(address.sin_port);
  return fd;
}

std::size_t announced_length(std::string_view head) {
  const auto at = head.find("Content-Length: ");
  return at == std::string_view::npos ? 0 : std::stoul(std::string(head.substr(at + 16, 20)));
}

}  // namespace

Peer::~Peer() {
  if (tls_ != nullptr) {
    if (fd_ >= 0) SSL_shutdown(tls_);
    SSL_free(tls_);
  }
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0) close(fd_);
}

std::string Peer::read_some(std::size_t most) {
  std::string buffer(most, '\0');
  const auto got = tls_ != nullptr ? SSL_read(tls_, buffer.data(), static_cast<int>(most))
                                   : static_cast<int>(recv(fd_, buffer.data(), most, 0));
  buffer.resize(static_cast<std::size_t>(std::max(got, 0)));
  return buffer;
}

std::string Peer::read_request() {
  std::string request;
  while (true) {
    const auto end = request.find("\r\n\r\n");
    if (end != std::string::npos && request.size() >= end + 4 + announced_length(request.substr(0, end)))
      return request;
    // Byte by byte past the head would be slow, a whole buffer could swallow the next request: tests send one at a
    // time.
    const auto more = read_some();
    if (more.empty()) return {};
    request += more;
  }
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = tls_ != nullptr ? SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
                                      : static_cast<int>(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Peer::wait_closed() {
  while (!read_some().empty()) {
  }
}

void Peer::reset() {
  const linger abort{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  cut();
}

void Peer::cut() {
  const std::lock_guard lock(mutex_);
  close(fd_);
  fd_ = -1;
}

void Peer::interrupt() {
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0) shutdown(fd_, SHUT_RDWR);
}

TestServer::TestServer(Script script, const TlsIdentity* tls) : script_(std::move(script)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  if (tls != nullptr) tls_ = server_context(*tls);
  listener_ = listen_on_loopback(port_);
  accepting_ = std::thread([this] { accept_all(); });
}

TestServer::~TestServer() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto* peer : open_) peer->interrupt();
  }
  for (auto& thread : serving_) thread.join();
}

std::string TestServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

void TestServer::accept_all() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    serving_.emplace_back([this, fd, number = connections_++] { serve(fd, number); });
  }
}

void TestServer::serve(int fd, int number) {
  SSL* tls = nullptr;
  if (tls_) {
    tls = SSL_new(tls_.get());
    SSL_set_fd(tls, fd);
  }
  Peer peer(fd, tls);
  std::list<Peer*>::iterator self;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    self = open_.insert(open_.end(), &peer);
  }
  if (tls == nullptr || SSL_accept(tls) == 1) script_(peer, number);
  const std::lock_guard lock(mutex_);
  open_.erase(self);
}

std::uint16_t refusing_port() {
  std::uint16_t port = 0;
  close(listen_on_loopback(port));
  return port;
}

std::string answer(std::string_view body, std::string_view status, std::string_view more_headers) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more_headers) + "\r\n" + std::string(body);
}

}  // namespace krux::test
