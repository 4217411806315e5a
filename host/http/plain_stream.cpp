#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <array>

#include "host/http/byte_stream.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;

class PlainStream final : public ByteStream {
 public:
  PlainStream(StreamSocket socket, std::span<char> buffer) : socket_(std::move(socket)), buffer_(buffer) {
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
  }

  void handshake(IoDone done) override { succeed(std::move(done)); }
  void read_some(ReadDone done) override {
    socket_.async_wait(StreamSocket::wait_read,
                       [this, done = std::move(done)](boost::system::error_code error) mutable {
                         std::size_t size = 0;
                         if (!error) size = socket_.read_some(asio::buffer(buffer_.data(), buffer_.size()), error);
                         if (error == asio::error::would_block) return read_some(std::move(done));
                         done(error, buffer_.first(size));
                       });
  }
  bool has_bytes() const override {
    boost::system::error_code ignored;
    return socket_.available(ignored) > 0;
  }
  std::size_t write_now(std::string_view head, std::string_view body) override {
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head.data(), head.size()),
                                                    asio::buffer(body.data(), body.size())};
    boost::system::error_code error;
    const auto sent = socket_.write_some(buffers, error);
    return error ? 0 : sent;
  }
  void write_all(std::string_view head, std::string_view body, IoDone done) override {
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head.data(), head.size()),
                                                    asio::buffer(body.data(), body.size())};
    asio::async_write(socket_, buffers,
                      [done = std::move(done)](const boost::system::error_code& error, std::size_t) { done(error); });
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
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}); });
  }

  StreamSocket socket_;
  const std::span<char> buffer_;
};

}  // namespace

std::unique_ptr<ByteStream> make_plain_stream(StreamSocket socket, std::span<char> buffer) {
  return std::make_unique<PlainStream>(std::move(socket), buffer);
}

}  // namespace krux
