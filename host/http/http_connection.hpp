// One client's connection: reads a request, hands it on, writes the answer, and watches the limits. Internal to the
// HTTP server. Everything runs on its event loop. What has to do with answers is in http_connection_writing.cpp; once
// it is a WebSocket, WebSocketConnection does all this.
#pragma once

#include <memory>
#include <string>

#include "host/http/byte_stream.hpp"
#include "host/http/event_loop.hpp"
#include "host/http/incoming_request.hpp"
#include "host/http/response_stream.hpp"
#include "host/http/web_socket_connection.hpp"

namespace krux {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  /// Without a `place` it is one too many: start() says so, and closes.
  HttpConnection(EventLoop& loop, std::shared_ptr<ListenerShared> listener, std::unique_ptr<ByteStream> stream,
                 Peer peer, std::unique_ptr<ConnectionPlaces::Place> place);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void start();
  /// Closes now, or once the request under way is answered.
  void shut_down();
  /// Makes room for another one, unless there is a request to be answered by now.
  void go();
  void close(bool reset);

  void answer(ServerResponse response);
  void held_long_enough();
  /// The answer's ResponseStream has something for it.
  void parts_came();
  /// The WebSocket's user has answered a message, or has something to say without having been asked.
  void answer_message(SocketMessage message);
  void outbox_came();

  /// Whether what is waited for should have come by `now_ms` since boot.
  bool is_late(std::int64_t now_ms) const;
  void out_of_time();

 private:
  friend class WebSocketConnection;  // which it becomes
  enum class Phase {
    kHandshake,
    kIdle,
    kHeader,
    kBody,
    kHandling,
    kHolding,
    kStreaming,
    kWriting,
    kSocket,
    kDraining,
    kClosed
  };

  void enter(Phase phase, std::int64_t timeout_ms);
  std::int64_t header_ms() const;
  /// Whether a request waits for its answer, or that for its end: what comes meanwhile is for afterwards.
  bool is_answering() const;

  void read();
  void received(std::span<char> bytes);
  void parse();
  bool admit();
  void expect_more();
  void handle();
  void refuse(ServerResponse response);
  void fail(int status, std::string_view message);

  /// kOn: this step of the loop goes on with the next request, where the answer went out at once.
  enum class Go { kOn, kLater };
  void write_in_time(ServerResponse response, Go go);
  std::int64_t hold_ms(std::size_t messages) const;
  void write(ServerResponse response, Go go = Go::kLater);
  void put(std::string_view head, std::string_view body, Go go, void (HttpConnection::*then)());
  void written();
  void drain();

  void begin_parts(Go go);
  void next_piece(Go go);
  void write_piece(Go go);
  void piece_written();
  void cut();
  /// The host stops: nothing more is taken, and what was sent goes out.
  void cut_short();

  void become_socket(AcceptedSocket accepted);

  EventLoop& loop_;
  const std::shared_ptr<ListenerShared> listener_;
  const std::unique_ptr<ByteStream> stream_;
  const Peer peer_;
  const std::unique_ptr<ConnectionPlaces::Place> place_;

  Phase phase_ = Phase::kHandshake;
  std::int64_t deadline_ms_ = 0, body_began_ms_ = 0;  ///< since boot
  EventLoop::UnderWay under_way_{};                   ///< while kHandling
  std::string payer_;                                 ///< whose request it is; empty: nobody's that is known
  std::size_t request_bytes_ = 0;
  bool first_ = true;  ///< no request has been read yet
  bool key_shown_ = false;
  bool last_chance_ = false;  ///< goes unless what has come already is a request

  std::unique_ptr<IncomingRequest> incoming_;
  std::string input_;  ///< received and not yet taken: a part of a header, or what comes behind a request
  bool reading_ = false;
  std::size_t drained_ = 0;

  bool head_only_ = false, keep_alive_ = false, old_version_ = false;
  std::string out_head_;  ///< or a piece of an answer in parts
  ServerResponse out_;

  std::shared_ptr<ResponseParts> parts_;  ///< of the answer, where it comes in parts
  enum class Piece { kNone, kHeld, kBeingWritten } piece_ = Piece::kNone;
  ResponseParts::Then then_ = ResponseParts::Then::kMore;  ///< behind that piece

  std::unique_ptr<WebSocketConnection> socket_;
};

}  // namespace krux
