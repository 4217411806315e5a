#include <spdlog/spdlog.h>
#include <string.h>

#include <algorithm>
#include <limits>

#include "host/http/http_connection.hpp"
#include "host/http/response_head.hpp"

namespace krux {
namespace {

using boost::system::error_code;

constexpr std::int64_t kDrainMs = 2'000, kDrainWhenStoppingMs = 200;
constexpr auto kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

void HttpConnection::answer(ServerResponse response) {
  if (phase_ != Phase::kHandling) return;
  loop_.handled(under_way_);
  if (!key_shown_) place_->waits();  // whoever does not read his answer is in nobody's way
  write_in_time(std::move(response), Go::kOn);
}

/// Of whoever has asked for more than he may by now: later. Nothing is taken in meanwhile.
void HttpConnection::write_in_time(ServerResponse response, Go go) {
  const auto messages =
      AgentPace::of_bytes(request_bytes_ + response.body.size()) + (response.status < 400 ? 0 : AgentPace::kOfRefusal);
  const auto wait_ms = hold_ms(messages);
  if (wait_ms <= 0) return write(std::move(response), go);
  enter(Phase::kHolding, wait_ms);
  out_ = std::move(response);
  loop_.hold(weak_from_this(), deadline_ms_);
}

std::int64_t HttpConnection::hold_ms(std::size_t messages) const {
  if (!listener_->admission || !place_ || loop_.stopping) return 0;
  return listener_->pace.hold_ms(payer_, messages, loop_.clock.boot_ms());
}

void HttpConnection::held_long_enough() {
  if (phase_ == Phase::kSocket) return socket_->held_long_enough();
  if (phase_ == Phase::kHolding) return write(std::exchange(out_, {}));
  if (phase_ == Phase::kStreaming && piece_ == Piece::kHeld) write_piece(Go::kLater);
}

void HttpConnection::write(ServerResponse response, Go go) {
  if (response.socket) return become_socket(*std::move(response.socket));
  if (loop_.stopping || (response.stream && old_version_)) keep_alive_ = false;
  enter(Phase::kWriting, listener_->limits.write_ms);
  out_ = std::move(response);
  out_head_ = response_head(out_, keep_alive_, old_version_);
  const bool no_body = head_only_ || out_.status == 204;
  if (out_.stream && !no_body) return begin_parts(go);
  put(out_head_, no_body ? std::string_view() : std::string_view(out_.body), go, &HttpConnection::written);
}

/// `head` and `body` stay until `then`.
void HttpConnection::put(std::string_view head, std::string_view body, Go go, void (HttpConnection::*then)()) {
  const auto sent = go == Go::kOn ? stream_->write_now(head, body) : 0;
  if (sent == head.size() + body.size()) return (this->*then)();
  body.remove_prefix(sent - std::min(sent, head.size()));
  head.remove_prefix(std::min(sent, head.size()));
  stream_->write_all(head, body, [self = shared_from_this(), then](const error_code& error) {
    if (self->phase_ == Phase::kClosed) return;
    error ? self->close(true) : (*self.*then)();
  });
}

void HttpConnection::written() {
  out_ = {};
  parts_.reset();
  if (place_) place_->waits();
  if (!keep_alive_) return drain();
  enter(Phase::kIdle, key_shown_ ? listener_->limits.keyed_idle_ms : listener_->limits.idle_ms);
  if (input_.empty()) return read();
  parse();
}

/// Closing with bytes unread would reset the connection and take the answer away from a client that is still sending.
void HttpConnection::drain() {
  enter(Phase::kDraining, loop_.stopping ? kDrainWhenStoppingMs : kDrainMs);
  explicit_bzero(input_.data(), input_.size());
  input_.clear();
  stream_->end_writing([self = shared_from_this()](const error_code& error) {
    if (self->phase_ == Phase::kClosed) return;
    if (error) return self->close(false);
    self->read();
  });
}

// ---- an answer in parts

/// From here on it is read beside the answer, so that the client's end is seen while there is nothing to say.
void HttpConnection::begin_parts(Go go) {
  using Coding = ResponseParts::Coding;
  auto wake = [loop = loop_.shared_from_this(), connection = weak_from_this()] {
    loop->post([connection] {
      if (const auto alive = connection.lock()) alive->parts_came();
    });
  };
  parts_ = std::make_shared<ResponseParts>(listener_->limits.unsent_bytes,
                                           old_version_ ? Coding::kNone : Coding::kChunked, std::move(wake));
  phase_ = Phase::kStreaming;
  place_->streams();
  read();
  piece_ = Piece::kBeingWritten;
  then_ = ResponseParts::Then::kMore;
  put(out_head_, {}, go, &HttpConnection::piece_written);
  try {
    std::exchange(out_.stream, nullptr)(parts_->make_stream());
  } catch (const std::exception& error) {
    spdlog::error("an answer in parts could not be begun: {}", error.what());
  }
  if (loop_.stopping) cut_short();
}

void HttpConnection::parts_came() {
  if (phase_ != Phase::kStreaming) return;
  if (parts_->is_too_much()) return close(true);
  if (piece_ == Piece::kNone) next_piece(Go::kOn);
}

/// The first one may go out within this step of the loop, those that wait behind it in steps of their own.
void HttpConnection::next_piece(Go go) {
  auto next = parts_->next();
  if (parts_->is_too_much()) return close(true);
  deadline_ms_ = kNever;
  if (!next) return;
  out_head_ = std::move(next->bytes);
  then_ = next->then;
  const auto wait_ms = hold_ms(AgentPace::of_bytes(out_head_.size()));
  if (wait_ms <= 0) return write_piece(go);
  piece_ = Piece::kHeld;
  loop_.hold(weak_from_this(), loop_.clock.boot_ms() + wait_ms);
}

void HttpConnection::write_piece(Go go) {
  piece_ = Piece::kBeingWritten;
  // From its end on it is an answer as any other: a client that says no more may still read it.
  enter(then_ == ResponseParts::Then::kEnd ? Phase::kWriting : Phase::kStreaming, listener_->limits.write_ms);
  out_head_.empty() ? piece_written() : put(out_head_, {}, go, &HttpConnection::piece_written);
}

void HttpConnection::piece_written() {
  piece_ = Piece::kNone;
  if (then_ == ResponseParts::Then::kMore) return next_piece(Go::kLater);
  then_ == ResponseParts::Then::kEnd ? written() : cut();
}

/// Chunks without a last one are seen to be cut. An HTTP/1.0 client would take an orderly end for the body's own.
void HttpConnection::cut() {
  if (old_version_) return close(true);
  keep_alive_ = false;
  written();
}

void HttpConnection::cut_short() {
  parts_->close();
  if (piece_ == Piece::kNone) return next_piece(Go::kLater);
  if (piece_ == Piece::kHeld) write_piece(Go::kLater);
}

// ---- a WebSocket

void HttpConnection::become_socket(AcceptedSocket accepted) {
  phase_ = Phase::kSocket;
  place_->streams();
  socket_ = std::make_unique<WebSocketConnection>(*this, std::move(accepted), std::exchange(input_, {}));
  socket_->start();
  if (loop_.stopping) socket_->go_away();
}

void HttpConnection::answer_message(SocketMessage message) {
  if (phase_ == Phase::kSocket) socket_->answered(std::move(message));
}

void HttpConnection::outbox_came() {
  if (phase_ == Phase::kSocket) socket_->look_at_outbox();
}

}  // namespace krux
