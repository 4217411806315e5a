#include "host/gateway/mcp/call_channel.hpp"

namespace krux::mcp {

/// Under the lock. The answer cannot come between the look and the beginning.
std::shared_ptr<CallEvents> CallChannel::events() {
  if (events_ || closed_ || !begin_) return events_;
  const auto begin = begin_;  // which closing lets go
  auto begun = begin();
  if (!closed_) events_ = std::move(begun);
  return events_;
}

void CallChannel::open() {
  const std::lock_guard lock(mutex_);
  if (!socket_) events();
}

bool CallChannel::send(std::string_view message) {
  std::shared_ptr<CallEvents> to;
  std::shared_ptr<ResponseStream> socket;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    socket = socket_;
    if (!socket) to = events();
  }
  return socket ? socket->send(message) : to && to->tell(message);
}

void CallChannel::close() {
  Begin begin;
  std::shared_ptr<CallEvents> events;
  std::shared_ptr<ResponseStream> socket;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  begin.swap(begin_);
  events.swap(events_);
  socket.swap(socket_);
}

}  // namespace krux::mcp
