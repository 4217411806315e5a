// What a connection does once it has become a WebSocket: takes messages, sends answers and what nobody asked for, and
// watches the limits. Internal to the HTTP server. Everything runs on its event loop. What has to do with bytes is in
// web_socket_bytes.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/http/event_loop.hpp"
#include "host/http/socket_outbox.hpp"
#include "host/http/web_socket_frames.hpp"

namespace krux {

struct SocketClose {
  std::uint16_t code;
  std::string_view reason;
};

class WebSocketConnection final : public FrameCarrier {
 public:
  /// A part of `owner`. `received`: what came behind the request.
  WebSocketConnection(HttpConnection& owner, AcceptedSocket accepted, std::string received);

  void start();
  void came(std::span<const char> bytes);
  /// Nothing more comes.
  void lost(const boost::system::error_code& error);
  void held_long_enough();
  bool is_late(std::int64_t now_ms) const { return now_ms >= deadline_ms(); }
  void out_of_time();
  void answered(SocketMessage message);
  void look_at_outbox();
  /// The host stops: what is under way is answered, then it closes.
  void go_away();
  /// Another connection is to have its place.
  void make_way();
  /// The connection has closed, or is about to.
  void gone();

  void read(std::span<char> into, Done done) override;
  void write(std::string_view head, std::string_view body, Done done) override;

 private:
  enum class When { kAtOnce, kAnswered };
  static constexpr auto kNever = std::numeric_limits<std::int64_t>::max();

  /// A callback that does nothing once the connection is no WebSocket any more.
  template <class... Args>
  auto later(void (WebSocketConnection::*what)(Args...));

  void accepted(const boost::system::error_code& error);
  void next_part();
  void listen_again();
  void part_came(const MessagePart& part);
  void keep(const MessagePart& part);
  void message_came();
  void hand_on(SocketMessage message);
  void ended(SocketEnd how);

  void send_next();
  void written(const boost::system::error_code& error);
  void ping();
  void pinged(const boost::system::error_code& error);
  void end(SocketClose why, When when);
  void closed(const boost::system::error_code& error);
  void leave();

  void pay();
  void feed();
  void give_bytes();
  std::int64_t now_ms() const;
  std::int64_t deadline_ms() const;

  HttpConnection& owner_;
  AcceptedSocket accepted_;
  const std::shared_ptr<SocketOutbox> outbox_;
  std::shared_ptr<WebSocketFrames> frames_;
  bool open_ = false;  ///< the handshake is done

  // Bytes on their way in, to whoever asked for them last.
  std::string input_;
  std::span<char> into_;
  Done reader_;
  bool held_ = false, part_waits_ = false;
  std::size_t owed_ = 0;       ///< messages that the agent's pace does not know of yet
  std::int64_t overhead_ = 0;  ///< bytes that came and were no message's

  // The message that is coming in.
  bool begun_ = false, fits_ = true;
  std::string text_;
  std::shared_ptr<MemoryShare> memory_;
  std::size_t under_way_ = 0;  ///< messages that are not answered yet

  struct Outgoing {
    SocketMessage message;
    bool asked_for = true;
  };
  std::deque<Outgoing> out_;  ///< the first is being sent, where one is
  bool sending_ = false, pinging_ = false;
  std::optional<SocketClose> end_;
  bool end_waits_ = false;  ///< for what is under way
  bool closing_ = false;    ///< the end has been said

  // Since boot.
  std::int64_t heard_ms_ = 0, message_until_ms_ = kNever, writing_until_ms_ = kNever, ends_by_ms_ = kNever;
  std::int64_t pinged_ms_ = -1;  ///< -1: the client owes no answer
  bool heard_since_ping_ = false;
};

}  // namespace krux
