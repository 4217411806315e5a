// A WebSocket's bytes on their way between its frames and its connection, and what they count for.
#include <string.h>

#include <algorithm>
#include <boost/system/error_code.hpp>
#include <utility>

#include "host/http/http_connection.hpp"
#include "host/http/web_socket_connection.hpp"

namespace krux {
namespace {

using boost::system::error_code;

/// So many bytes that are no message's cost a loop as much as a message: some ten frames without content.
constexpr std::int64_t kOverheadBytes = 64;

}  // namespace

std::int64_t WebSocketConnection::now_ms() const {
  return owner_.loop_.clock.boot_ms();
}

std::int64_t WebSocketConnection::deadline_ms() const {
  const auto& limits = owner_.listener_->limits;
  // While something is being written the client may not have come to the ping yet.
  const bool busy = pinging_ || writing_until_ms_ != kNever;
  const auto silence = busy ? kNever : pinged_ms_ >= 0 ? pinged_ms_ + limits.pong_ms : heard_ms_ + limits.ping_ms;
  return std::min({silence, message_until_ms_, writing_until_ms_, ends_by_ms_});
}

void WebSocketConnection::read(std::span<char> into, Done done) {
  into_ = into;
  reader_ = std::move(done);
  pay();
  if (!held_) feed();
}

/// Whoever has asked for more than he may by now is not listened to for a while.
void WebSocketConnection::pay() {
  if (overhead_ >= kOverheadBytes) {
    owed_ += static_cast<std::size_t>(overhead_ / kOverheadBytes);
    overhead_ %= kOverheadBytes;
  }
  if (owed_ == 0 || held_ || closing_) return;
  const auto wait_ms = owner_.hold_ms(std::exchange(owed_, 0));
  if (wait_ms <= 0) return;
  held_ = true;
  owner_.loop_.hold(owner_.weak_from_this(), now_ms() + wait_ms);
}

void WebSocketConnection::held_long_enough() {
  if (!std::exchange(held_, false)) return;
  if (reader_) return feed();
  listen_again();
}

void WebSocketConnection::feed() {
  if (input_.empty()) return owner_.read();
  owner_.loop_.post([this, self = owner_.shared_from_this()] { give_bytes(); });
}

void WebSocketConnection::give_bytes() {
  if (!reader_ || input_.empty()) return;
  const auto size = std::min(into_.size(), input_.size());
  std::copy_n(input_.data(), size, into_.data());
  explicit_bzero(input_.data(), size);
  input_.erase(0, size);
  overhead_ += static_cast<std::int64_t>(size);
  std::exchange(reader_, nullptr)({}, size);
}

void WebSocketConnection::came(std::span<const char> bytes) {
  heard_ms_ = now_ms();
  heard_since_ping_ = true;
  pinged_ms_ = -1;
  input_.append(bytes.data(), bytes.size());
  give_bytes();
}

void WebSocketConnection::lost(const error_code& error) {
  if (!reader_) return owner_.close(false);
  std::exchange(reader_, nullptr)(error, 0);
}

void WebSocketConnection::write(std::string_view head, std::string_view body, Done done) {
  writing_until_ms_ = now_ms() + owner_.listener_->limits.write_ms;
  owner_.stream_->write_all(head, body,
                            [this, self = owner_.shared_from_this(), size = head.size() + body.size(),
                             done = std::move(done)](const error_code& error) {
                              writing_until_ms_ = kNever;
                              done(error, error ? 0 : size);
                            });
}

}  // namespace krux
