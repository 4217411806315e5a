// What a client sends once it has a WebSocket: whatever it is, messages are texts within their bounds, what is written
// back are frames, and it ends.
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>

#include "core/util/text.hpp"
#include "fuzz.hpp"
#include "host/http/web_socket_frames.hpp"

namespace {

using namespace krux;
using boost::system::error_code;
using krux::fuzz::require;

constexpr std::size_t kMostMessage = 4096;

/// Gives the input in pieces, then the end; keeps what is written.
class Carrier final : public FrameCarrier {
 public:
  Carrier(boost::asio::io_context& context, std::string input, std::size_t piece)
      : context_(context), input_(std::move(input)), piece_(piece) {}

  void read(std::span<char> into, Done done) override {
    const auto n = std::min({into.size(), piece_, input_.size() - at_});
    std::copy_n(input_.begin() + static_cast<std::ptrdiff_t>(at_), n, into.begin());
    at_ += n;
    const error_code error = n == 0 && !into.empty() ? error_code(boost::asio::error::eof) : error_code();
    boost::asio::post(context_, [done = std::move(done), error, n] { done(error, n); });
  }
  void write(std::string_view head, std::string_view body, Done done) override {
    written.append(head).append(body);
    boost::asio::post(context_, [done = std::move(done), n = head.size() + body.size()] { done({}, n); });
  }
  std::string written;

 private:
  boost::asio::io_context& context_;
  const std::string input_;
  const std::size_t piece_;
  std::size_t at_ = 0;
};

struct Reader {
  std::shared_ptr<WebSocketFrames> frames;
  std::string message;
  int ends = 0;

  void read() {
    frames->read(
        [this](const MessagePart& part) {
          message.append(part.bytes.begin(), part.bytes.end());
          require(message.size() <= kMostMessage, "a message has its bound");
          if (part.last) {
            require(!part.text || is_valid_utf8(message), "a text is UTF-8");
            message.clear();
          }
          read();
        },
        [this](SocketEnd) { ++ends; });
  }
};

void check_written(std::string_view bytes) {
  const auto head_end = bytes.find("\r\n\r\n");
  require(head_end != std::string_view::npos && bytes.starts_with("HTTP/1.1 101"), "the handshake is answered");
  bytes.remove_prefix(head_end + 4);
  bool closed = false;
  while (!bytes.empty()) {
    require(!closed, "nothing follows a close");
    require(bytes.size() >= 2, "a frame has a head");
    const auto opcode = bytes[0] & 0x0f;
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[1]));
    require((bytes[0] & 0xf0) == 0x80 && (opcode == 8 || opcode == 10), "of pongs and a close alone");
    require(length <= 125 && bytes.size() >= 2 + length, "control frames are short, unmasked and whole");
    closed = opcode == 8;
    bytes.remove_prefix(2 + length);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  boost::asio::io_context context;
  Carrier carrier(context, {data + 1, data + size}, data[0] == 0 ? 65536 : data[0]);
  Reader reader;
  reader.frames = make_web_socket_frames(carrier, context, kMostMessage, [] {});
  reader.frames->accept("dGhlIHNhbXBsZSBub25jZQ==", "", [&](const error_code& error) {
    require(!error, "it is accepted");
    reader.read();
  });
  context.run();
  require(reader.ends == 1, "it ends, once");
  check_written(carrier.written);
  return 0;
}
