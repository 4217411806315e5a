#include "host/runner/frame_channel.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace krux {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{64} << 20;
constexpr std::size_t kReadAtOnce = 256 * 1024;

}  // namespace

FrameChannel::FrameChannel(int socket) : socket_(socket), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

bool FrameChannel::send(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload) {
  auto frame = frame_bytes(kind, call, request, payload);
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  const bool idle = waiting_.empty();
  if (idle) {
    waiting_ = std::move(frame);
  } else {
    waiting_ += frame;
  }
  if (idle && !flush_locked()) return false;
  if (waiting_.size() - sent_ > kMostWaiting) {
    shut();
    return false;
  }
  if (idle && !waiting_.empty()) eventfd_write(wake_.get(), 1);  // the pump must wait for the socket now
  return true;
}

/// False when the peer is gone.
bool FrameChannel::flush_locked() {
  while (sent_ < waiting_.size()) {
    const auto put =
        ::send(socket_.get(), waiting_.data() + sent_, waiting_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) {
      sent_ += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      shut();
      return false;
    }
  }
  waiting_.clear();
  sent_ = 0;
  return true;
}

bool FrameChannel::pump(int timeout_ms, std::span<pollfd> others, const OnFrame& on_frame) {
  std::array<pollfd, 2 + kMostOthers> wait{{{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  const auto count = std::min(others.size(), kMostOthers);
  std::copy_n(others.begin(), count, wait.begin() + 2);
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) wait[0].events |= POLLOUT;
  }
  if (::poll(wait.data(), 2 + count, timeout_ms) < 0) return errno == EINTR;
  std::copy_n(wait.begin() + 2, count, others.begin());
  if (wait[1].revents != 0) {
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
  }
  if ((wait[0].revents & POLLOUT) != 0) {
    const std::lock_guard lock(mutex_);
    flush_locked();
  }
  return (wait[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || receive(on_frame);
}

bool FrameChannel::receive(const OnFrame& on_frame) {
  thread_local std::string buffer(kReadAtOnce, '\0');
  const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
  if (got == 0) return false;
  cutter_.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
  while (auto frame = cutter_.next()) on_frame(std::move(*frame));
  return true;
}

void FrameChannel::shut() {
  ended_ = true;
  ::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace krux
