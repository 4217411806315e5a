#include "host/http/web_socket_frames.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <type_traits>
#include <utility>

namespace krux {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using boost::system::error_code;

/// Headers and short messages go out in one piece; a long one in several, so that a client which reads slowly is not
/// taken for one that does not read.
constexpr std::size_t kGathered = 4 << 10, kFramePieceBytes = 64 << 10;

/// The carrier as Beast wants it.
class Layer {
 public:
  using executor_type = asio::io_context::executor_type;
  Layer(FrameCarrier& carrier, asio::io_context& context) : carrier_(&carrier), context_(&context) {}

  executor_type get_executor() const noexcept { return context_->get_executor(); }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    std::span<char> into;
    for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers) && into.empty(); ++at)
      into = {static_cast<char*>(asio::mutable_buffer(*at).data()), asio::mutable_buffer(*at).size()};
    carrier_->read(into, once(std::forward<Handler>(handler)));
  }

  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    head_.clear();
    std::string_view body;
    for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers) && body.empty();
         ++at) {
      const asio::const_buffer buffer(*at);
      const std::string_view bytes(static_cast<const char*>(buffer.data()), buffer.size());
      if (head_.size() + bytes.size() <= kGathered) {
        head_ += bytes;
      } else {
        body = bytes.substr(0, kFramePieceBytes);
      }
    }
    carrier_->write(head_, body, once(std::forward<Handler>(handler)));
  }

  /// What comes behind the last frame is the connection's.
  template <class Handler>
  friend void async_teardown(beast::role_type, Layer& layer, Handler&& handler) {
    asio::post(layer.get_executor(), beast::bind_front_handler(std::forward<Handler>(handler), error_code()));
  }
  friend void beast_close_socket(Layer&) {}

 private:
  /// Beast's handlers cannot be copied.
  template <class Handler>
  static FrameCarrier::Done once(Handler&& handler) {
    auto kept = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
    return [kept](const error_code& error, std::size_t bytes) {
      auto moved = std::move(*kept);
      moved(error, bytes);
    };
  }

  FrameCarrier* carrier_;
  asio::io_context* context_;
  std::string head_;
};

bool is_orderly(const error_code& error) {
  return error == websocket::error::closed || error == websocket::error::message_too_big ||
         error == websocket::error::bad_frame_payload || error == websocket::condition::protocol_violation;
}

class BeastFrames final : public WebSocketFrames, public std::enable_shared_from_this<BeastFrames> {
 public:
  BeastFrames(FrameCarrier& carrier, asio::io_context& context, std::size_t most_message, std::function<void()> control)
      : stream_(carrier, context) {
    stream_.read_message_max(most_message);
    stream_.auto_fragment(false);
    stream_.text(true);
    stream_.control_callback([control = std::move(control)](websocket::frame_type, beast::string_view) { control(); });
  }

  void accept(const std::string& key, const std::string& protocol, Done done) override {
    http::request<http::empty_body> request{http::verb::get, "/", 11};
    request.set(http::field::host, "localhost");
    request.set(http::field::connection, "upgrade");
    request.set(http::field::upgrade, "websocket");
    request.set(http::field::sec_websocket_version, "13");
    request.set(http::field::sec_websocket_key, key);
    stream_.set_option(websocket::stream_base::decorator([protocol](websocket::response_type& response) {
      response.set(http::field::server, "kruxos");
      if (!protocol.empty()) response.set(http::field::sec_websocket_protocol, protocol);
    }));
    stream_.async_accept(request, std::move(done));
  }

  void read(PartRead part, Ended ended) override {
    stream_.async_read_some(asio::buffer(buffer_),
                            [weak = weak_from_this(), part = std::move(part), ended = std::move(ended)](
                                const error_code& error, std::size_t bytes) {
                              if (error) return ended(is_orderly(error) ? SocketEnd::kClosed : SocketEnd::kGone);
                              const auto self = weak.lock();
                              if (!self) return;
                              part({std::span<const char>(self->buffer_).first(bytes), self->stream_.got_text(),
                                    self->stream_.is_message_done()});
                            });
  }

  void write(std::string_view text, Done done) override {
    stream_.async_write(asio::buffer(text.data(), text.size()),
                        [done = std::move(done)](const error_code& error, std::size_t) { done(error); });
  }

  void ping(Done done) override { stream_.async_ping({}, std::move(done)); }

  void close(std::uint16_t code, std::string_view reason, Done done) override {
    const websocket::close_reason why(static_cast<websocket::close_code>(code), {reason.data(), reason.size()});
    stream_.async_close(why, std::move(done));
  }

 private:
  websocket::stream<Layer, false> stream_;
  std::array<char, 4096> buffer_{};
};

}  // namespace

std::shared_ptr<WebSocketFrames> make_web_socket_frames(FrameCarrier& carrier, asio::io_context& context,
                                                        std::size_t most_message, std::function<void()> control) {
  return std::make_shared<BeastFrames>(carrier, context, most_message, std::move(control));
}

}  // namespace krux
