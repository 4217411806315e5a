#include "host/http/web_socket_connection.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/error.hpp>

#include "core/util/text.hpp"
#include "host/http/http_connection.hpp"

namespace krux {
namespace {

using boost::system::error_code;

constexpr std::int64_t kEndMs = 2'000;
/// Who has so many messages without an answer that was sent is not listened to: some answers, refusals above all, count
/// as nobody's memory.
constexpr std::size_t kMostUnanswered = 128;

constexpr SocketClose kFinished{1000, ""}, kStopping{1001, "The host ends. Connect again later."},
    kMakesWay{1001, "The agent, or the host, has as many connections as it may have, and this one was the oldest."},
    kNoText{1003, "Only text messages are taken."}, kNoUtf8{1007, "The message is not UTF-8."},
    kKeyEnded{1008, "The agent's key is not valid any more."},
    kTooSlow{1008, "The message did not arrive in time. Send it without pauses."};

/// One message's answer. Whoever answers may be on any thread and may come after the connection, even after the server.
class PendingReply {
 public:
  PendingReply(std::shared_ptr<EventLoop> loop, std::weak_ptr<HttpConnection> connection)
      : loop_(std::move(loop)), connection_(std::move(connection)), under_way_(loop_->clock.boot_ms(), this) {}
  ~PendingReply() { give({}); }
  PendingReply(const PendingReply&) = delete;
  PendingReply& operator=(const PendingReply&) = delete;

  const EventLoop::UnderWay& under_way() const { return under_way_; }

  void give(SocketMessage message) {
    if (given_.exchange(true)) return;
    const auto all = std::make_shared<SocketMessage>(std::move(message));
    // It waits in the loop, which it so does not own.
    std::function<void()> answer = [loop = loop_.get(), connection = connection_, which = under_way_, all] {
      loop->handled(which);
      if (const auto alive = connection.lock()) alive->answer_message(std::move(*all));
    };
    if (!loop_->lead.when_back(answer)) loop_->post(std::move(answer));
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::weak_ptr<HttpConnection> connection_;
  const EventLoop::UnderWay under_way_;
  std::atomic<bool> given_{false};
};

}  // namespace

WebSocketConnection::WebSocketConnection(HttpConnection& owner, AcceptedSocket accepted, std::string received)
    : owner_(owner),
      accepted_(std::move(accepted)),
      outbox_(
          std::make_shared<SocketOutbox>(owner.listener_->limits.unsent_bytes,
                                         [loop = owner.loop_.shared_from_this(), connection = owner.weak_from_this()] {
                                           loop->post([connection] {
                                             if (const auto alive = connection.lock()) alive->outbox_came();
                                           });
                                         })),
      frames_(
          make_web_socket_frames(*this, owner.loop_.context, owner.listener_->limits.body_bytes, [this] { ++owed_; })),
      input_(std::move(received)),
      heard_ms_(now_ms()) {}

template <class... Args>
auto WebSocketConnection::later(void (WebSocketConnection::*what)(Args...)) {
  return [weak = owner_.weak_from_this(), what](Args... args) {
    const auto alive = weak.lock();
    if (alive && alive->phase_ == HttpConnection::Phase::kSocket) (alive->socket_.get()->*what)(args...);
  };
}

void WebSocketConnection::start() {
  frames_->accept(accepted_.key, accepted_.protocol, later(&WebSocketConnection::accepted));
}

void WebSocketConnection::accepted(const error_code& error) {
  if (error) return owner_.close(true);
  open_ = true;
  heard_ms_ = now_ms();
  try {
    accepted_.user->opened(outbox_->make_stream());
  } catch (const std::exception& failure) {
    spdlog::error("a WebSocket could not be begun: {}", failure.what());
    return owner_.close(true);
  }
  next_part();
  send_next();
}

// ---- messages that come in

void WebSocketConnection::next_part() {
  if (closing_) return;
  pay();
  part_waits_ = held_ || out_.size() + under_way_ >= kMostUnanswered;
  if (part_waits_) return;
  frames_->read(later(&WebSocketConnection::part_came), later(&WebSocketConnection::ended));
}

void WebSocketConnection::listen_again() {
  if (part_waits_ && !held_) next_part();
}

void WebSocketConnection::part_came(const MessagePart& part) {
  overhead_ -= static_cast<std::int64_t>(part.bytes.size());
  if (!end_) keep(part);
  if (part.last) message_came();
  next_part();
}

/// As much as there is room for: the rest of what does not fit is read, and nothing kept of it.
void WebSocketConnection::keep(const MessagePart& part) {
  if (!part.text) return end(kNoText, When::kAtOnce);
  if (!std::exchange(begun_, true)) message_until_ms_ = now_ms() + owner_.listener_->limits.body_ms;
  fits_ = fits_ && accepted_.user->make_room(memory_, part.bytes.size());
  if (fits_) {
    text_.append(part.bytes.data(), part.bytes.size());
  } else {
    text_ = {};
    memory_.reset();
  }
}

void WebSocketConnection::message_came() {
  begun_ = false;
  message_until_ms_ = kNever;
  const bool fits = std::exchange(fits_, true);
  SocketMessage message{std::exchange(text_, {}), std::exchange(memory_, nullptr)};
  if (end_) return;
  owed_ += AgentPace::of_bytes(message.text.size());
  // Beast does not see a character that an empty last frame leaves unfinished.
  const bool ends_in_ascii = message.text.empty() || static_cast<unsigned char>(message.text.back()) < 0x80;
  if (!ends_in_ascii && !is_valid_utf8(message.text)) return end(kNoUtf8, When::kAtOnce);
  if (!accepted_.user->goes_on()) return end(kKeyEnded, When::kAtOnce);
  owner_.place_->streams();  // now the youngest
  ++under_way_;
  fits ? hand_on(std::move(message)) : answered(accepted_.user->without_room());
}

void WebSocketConnection::hand_on(SocketMessage message) {
  const auto pending = std::make_shared<PendingReply>(owner_.loop_.shared_from_this(), owner_.weak_from_this());
  // Not on the loop, where its thread is lent: nothing of the connection is touched.
  owner_.loop_.handle(pending->under_way(), [user = accepted_.user, pending,
                                             message = std::make_shared<SocketMessage>(std::move(message))] {
    try {
      user->take(std::move(*message), [pending](SocketMessage reply) { pending->give(std::move(reply)); });
    } catch (const std::exception& error) {
      spdlog::error("a message could not be handled: {}", error.what());
    }
  });
}

void WebSocketConnection::ended(SocketEnd how) {
  if (closing_) return;  // closed() comes
  how == SocketEnd::kClosed ? leave() : owner_.close(false);
}

// ---- what goes out

void WebSocketConnection::answered(SocketMessage message) {
  --under_way_;
  if (message.refused) owed_ += AgentPace::kOfRefusal;
  if (!message.text.empty()) out_.push_back({std::move(message)});
  send_next();
  listen_again();
}

void WebSocketConnection::look_at_outbox() {
  if (outbox_->is_too_much()) return owner_.close(true);
  for (auto& text : outbox_->take()) out_.push_back({{std::move(text), nullptr}, false});
  if (outbox_->is_ended()) return end(accepted_.user->goes_on() ? kFinished : kKeyEnded, When::kAtOnce);
  send_next();
}

void WebSocketConnection::send_next() {
  if (!open_ || sending_ || closing_) return;
  if (!out_.empty()) {
    sending_ = true;
    return frames_->write(out_.front().message.text, later(&WebSocketConnection::written));
  }
  if (!end_ || (end_waits_ && under_way_ > 0)) return;
  closing_ = true;
  ends_by_ms_ = std::min(ends_by_ms_, now_ms() + kEndMs);
  frames_->close(end_->code, end_->reason, later(&WebSocketConnection::closed));
}

void WebSocketConnection::written(const error_code& error) {
  if (error == boost::asio::error::operation_aborted) return;  // the end has been said; ended() comes
  if (error) return owner_.close(true);
  sending_ = false;
  const auto& sent = out_.front();
  owed_ += AgentPace::of_bytes(sent.message.text.size()) - (sent.asked_for ? 1 : 0);
  if (!sent.asked_for) outbox_->sent(sent.message.text.size());
  out_.pop_front();
  send_next();
  listen_again();
}

// ---- the end

void WebSocketConnection::go_away() {
  end(kStopping, When::kAnswered);
}

void WebSocketConnection::make_way() {
  end(kMakesWay, When::kAtOnce);
}

/// What waits to be sent goes out before, as far as the client reads it.
void WebSocketConnection::end(SocketClose why, When when) {
  if (when == When::kAtOnce && (!end_ || end_waits_)) ends_by_ms_ = now_ms() + kEndMs;
  end_waits_ = when == When::kAnswered && (!end_ || end_waits_);
  if (!end_) end_ = why;
  send_next();
}

void WebSocketConnection::closed(const error_code&) {
  leave();
}

void WebSocketConnection::leave() {
  gone();
  owner_.drain();
}

void WebSocketConnection::gone() {
  outbox_->close();
  if (!sending_) out_.clear();
  text_ = {};
  memory_.reset();
  accepted_.user.reset();
  if (reader_)
    owner_.loop_.post([reader = std::exchange(reader_, nullptr)] { reader(boost::asio::error::operation_aborted, 0); });
}

// ---- time

void WebSocketConnection::out_of_time() {
  const auto now = now_ms();
  if (now >= std::min(writing_until_ms_, ends_by_ms_)) return owner_.close(true);
  if (now >= message_until_ms_) {
    message_until_ms_ = kNever;
    return end(kTooSlow, When::kAtOnce);
  }
  if (pinged_ms_ >= 0) return owner_.close(true);
  if (!accepted_.user->goes_on()) return end(kKeyEnded, When::kAtOnce);
  ping();
}

void WebSocketConnection::ping() {
  heard_ms_ = now_ms();  // for a look that comes before the end, or the handshake, is over
  if (!open_ || closing_ || std::exchange(pinging_, true)) return;
  heard_since_ping_ = false;
  frames_->ping(later(&WebSocketConnection::pinged));
}

void WebSocketConnection::pinged(const error_code& error) {
  pinging_ = false;
  if (!error && !heard_since_ping_) pinged_ms_ = now_ms();
}

}  // namespace krux
