#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <array>

#include "host/gateway/byte_stream.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(StreamSocket socket) : socket_(std::move(socket)) {}

  void handshake(IoDone done) override { succeed(std::move(done)); }
  void read_some(char* buffer, std::size_t size, IoDone done) override {
    socket_.async_read_some(asio::buffer(buffer, size), std::move(done));
  }
  void write_all(std::string_view head, std::string_view body, IoDone done) override {
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head.data(), head.size()),
                                                    asio::buffer(body.data(), body.size())};
    asio::async_write(socket_, buffers, std::move(done));
  }
  void end_writing(IoDone done) override {
    boost::system::error_code ignored;
    socket_.shutdown(StreamSocket::shutdown_send, ignored);
    succeed(std::move(done));
  }
  void close(bool reset) override {
    boost::system::error_code ignored;
    if (reset) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
  }

 private:
  void succeed(IoDone done) {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }

  StreamSocket socket_;
};

}  // namespace

std::unique_ptr<ByteStream> make_plain_stream(StreamSocket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace krux
