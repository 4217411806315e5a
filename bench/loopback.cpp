#include "bench/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "bench/report.hpp"

namespace krux::bench {
namespace {

/// False: the other side has closed.
bool receive(int fd, char* to, std::size_t bytes) {
  for (std::size_t have = 0; have < bytes;) {
    const auto got = recv(fd, to + have, bytes - have, 0);
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
  }
  return true;
}

bool send_all(int fd, const std::string& bytes) {
  return send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

void at_once(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

}  // namespace

Loopback::Loopback(std::size_t request_bytes, std::size_t answer_bytes, std::function<void()> work)
    : request_(request_bytes, 'q'),
      answer_bytes_(answer_bytes),
      work_(std::move(work)),
      answer_(answer_bytes, 'a'),
      fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listening, any, size) != 0 || listen(listening, 1) != 0 || getsockname(listening, any, &size) != 0 ||
      connect(fd_, any, size) != 0)
    wrong("the loopback cannot be measured");
  at_once(fd_);
  thread_ = std::thread([this, listening] { serve(listening); });
}

Loopback::~Loopback() {
  close(fd_);
  thread_.join();
}

void Loopback::serve(int listening) const {
  const int fd = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  close(listening);
  at_once(fd);
  std::string got(request_.size(), ' ');
  const std::string answer(answer_bytes_, 'a');
  while (receive(fd, got.data(), got.size())) {
    if (work_) work_();
    if (!send_all(fd, answer)) break;
  }
  close(fd);
}

void Loopback::ask() {
  if (!send_all(fd_, request_) || !receive(fd_, answer_.data(), answer_.size())) wrong("the loopback has ended");
}

}  // namespace krux::bench
