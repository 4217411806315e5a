#include "host/gateway/mcp/call_channel.hpp"

namespace krux::mcp {

/// Under the lock. The answer cannot come between the look and the beginning.
std::shared_ptr<CallEvents> CallChannel::events() {
  if (!events_ && !closed_ && begin_) events_ = begin_();
  return closed_ ? nullptr : events_;
}

void CallChannel::open() {
  const std::lock_guard lock(mutex_);
  if (!socket_) events();
}

bool CallChannel::send(std::string_view message) {
  std::shared_ptr<CallEvents> to;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (!socket_) to = events();
  }
  return socket_ ? socket_->send(message) : to && to->tell(message);
}

void CallChannel::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace krux::mcp
