#include "support/strangers.hpp"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace krux::test {
namespace {

using Time = std::chrono::steady_clock;

std::string bytes_of(StrangerKind kind) {
  switch (kind) {
    case StrangerKind::kSilent:
      return {};
    case StrangerKind::kHalfHeader:
      return "POST /rpc HTTP/1.1\r\nHost: loc";
    case StrangerKind::kNoBody:
      return "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
    default:
      return "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
}

}  // namespace

const char* name_of(StrangerKind kind) {
  constexpr std::array<const char*, 4> names{"silent", "half a header", "no body", "idle after 404"};
  return names[static_cast<std::size_t>(kind)];
}

Strangers::Strangers(std::uint16_t port, std::size_t count, StrangerKind kind, std::size_t reopened_a_second)
    : port_(port),
      bytes_(bytes_of(kind)),
      reopened_a_second_(reopened_a_second),
      slots_(count, pollfd{-1, 0, 0}),
      sent_(count, 0),
      thread_([this] { run(); }) {}

Strangers::~Strangers() {
  stopping_ = true;
  thread_.join();
  for (const auto& slot : slots_) {
    if (slot.fd >= 0) ::close(slot.fd);
  }
}

void Strangers::await_all() {
  while (opened_ < slots_.size()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Strangers::run() {
  for (std::size_t slot = 0; slot < slots_.size() && !stopping_; ++slot) {
    open(slot);
    if (slot % 64 == 63) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto begun = Time::now();
  std::size_t reopened = 0;
  while (!stopping_) {
    if (::poll(slots_.data(), slots_.size(), 5) > 0) {
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot].fd >= 0 && slots_[slot].revents != 0) look(slot);
      }
    }
    const std::chrono::duration<double> passed = Time::now() - begun;
    while (!closed_.empty() &&
           static_cast<double>(reopened) < passed.count() * static_cast<double>(reopened_a_second_)) {
      const auto slot = closed_.back();
      closed_.pop_back();
      ++reopened;
      open(slot);
    }
    if (closed_.empty()) {  // what was not needed is not saved up
      begun = Time::now();
      reopened = 0;
    }
  }
}

void Strangers::open(std::size_t slot) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sent_[slot] = 0;
  slots_[slot] = {fd, POLLOUT, 0};
  if (fd >= 0) (void)::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);  // and looks when it is there
  if (fd < 0) closed_.push_back(slot);
}

void Strangers::look(std::size_t slot) {
  auto& at = slots_[slot];
  std::array<char, 4096> bytes{};
  if (!sent_[slot] && (at.revents & POLLOUT) && !(at.revents & (POLLERR | POLLHUP))) {
    sent_[slot] = 1;
    at.events = POLLIN;
    ++opened_;
    if (!bytes_.empty()) ::send(at.fd, bytes_.data(), bytes_.size(), MSG_NOSIGNAL);
    return;
  }
  if (!(at.revents & (POLLERR | POLLHUP)) && ::recv(at.fd, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) return;
  ::close(at.fd);
  at = {-1, 0, 0};
  closed_.push_back(slot);
}

bool allow_descriptors(std::size_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (limit.rlim_cur >= count) return true;
  if (limit.rlim_max < count) return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace krux::test
