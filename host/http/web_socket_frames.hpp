// The frames of a WebSocket, server's side (RFC 6455): what Beast makes of them. Internal to the HTTP server; on the
// connection's event loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace krux {

/// What frames come from and go to. `done` is called once, and not from within the call; one read and one write are
/// under way at a time.
class FrameCarrier {
 public:
  using Done = std::function<void(const boost::system::error_code&, std::size_t bytes)>;
  virtual ~FrameCarrier() = default;
  virtual void read(std::span<char> into, Done done) = 0;
  /// All of both.
  virtual void write(std::string_view head, std::string_view body, Done done) = 0;
};

/// A part of a message.
struct MessagePart {
  std::span<const char> bytes;  ///< lent until the callback returns; perhaps none
  bool text = true, last = false;
};

enum class SocketEnd {
  kClosed,  ///< with a closing handshake, or with our word that the client has broken the rules
  kGone
};

class WebSocketFrames {
 public:
  using Done = std::function<void(const boost::system::error_code&)>;
  using PartRead = std::function<void(const MessagePart&)>;
  using Ended = std::function<void(SocketEnd)>;
  virtual ~WebSocketFrames() = default;

  /// Answers the handshake. Everything else comes after.
  virtual void accept(const std::string& key, const std::string& protocol, Done done) = 0;
  /// The next part of a message, or the end. Pings are answered by the way.
  virtual void read(PartRead part, Ended ended) = 0;
  /// A whole text message, which stays until `done`. One at a time.
  virtual void write(std::string_view text, Done done) = 0;
  /// One at a time.
  virtual void ping(Done done) = 0;
  /// Says so behind what is being written, and waits for the client's word. Once; what comes meanwhile is not read.
  /// `reason`: at most 123 bytes.
  virtual void close(std::uint16_t code, std::string_view reason, Done done) = 0;
};

/// `carrier` outlives it. `control` is told of each ping, pong and close that comes. Callbacks may come after its end,
/// with an error.
std::shared_ptr<WebSocketFrames> make_web_socket_frames(FrameCarrier& carrier, boost::asio::io_context& context,
                                                        std::size_t most_message, std::function<void()> control);

}  // namespace krux
