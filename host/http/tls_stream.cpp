#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <array>

#include "core/util/error.hpp"
#include "host/http/byte_stream.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class TlsStream final : public ByteStream {
 public:
  TlsStream(StreamSocket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  void handshake(IoDone done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](const error_code& error) { done(error); });
  }
  void read_some(ReadDone done) override {
    auto read = [this, done = std::move(done)](const error_code& error, std::size_t size) {
      done(error, std::span<char>(buffer_).first(size));
    };
    // Behind the close_notify, what the client still sends is only taken off the wire.
    if (ended_) return stream_.next_layer().async_read_some(asio::buffer(buffer_), std::move(read));
    stream_.async_read_some(asio::buffer(buffer_), std::move(read));
  }
  bool has_bytes() const override {
    error_code ignored;
    return stream_.next_layer().available(ignored) > 0;
  }
  void write_all(std::string_view head, std::string_view body, IoDone done) override {
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head.data(), head.size()),
                                                    asio::buffer(body.data(), body.size())};
    asio::async_write(stream_, buffers,
                      [done = std::move(done)](const error_code& error, std::size_t) { done(error); });
  }
  /// The close_notify alone: waiting for the client's own is the reader's part.
  void end_writing(IoDone done) override {
    ended_ = true;
    SSL_set_shutdown(stream_.native_handle(), SSL_RECEIVED_SHUTDOWN);
    stream_.async_shutdown([this, done = std::move(done)](const error_code& error) {
      error_code ignored;
      stream_.next_layer().shutdown(StreamSocket::shutdown_send, ignored);
      done(error);
    });
  }
  void close(bool reset) override {
    error_code ignored;
    if (reset) stream_.next_layer().set_option(asio::socket_base::linger(true, 0), ignored);
    stream_.next_layer().close(ignored);
  }

 private:
  asio::ssl::stream<StreamSocket> stream_;
  bool ended_ = false;
  std::array<char, 16384> buffer_{};
};

void must(const error_code& error, const char* what, const std::filesystem::path& file) {
  if (!error) return;
  throw ConfigError(
      fmt::format("{} \"{}\" cannot be used: {}. It must be a PEM file that the host may read, "
                  "the key one without passphrase and belonging to the certificate.",
                  what, file.string(), error.message()));
}

}  // namespace

struct TlsContext::State {
  asio::ssl::context context{asio::ssl::context::tls_server};
};

TlsContext::TlsContext(const TlsFiles& files) : state_(std::make_unique<State>()) {
  auto& context = state_->context;
  error_code error;
  context.set_password_callback([](std::size_t, auto) { return std::string(); });  // never asks on a terminal
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  context.use_certificate_chain_file(files.certificate.string(), error);
  must(error, "server.tls.certificate", files.certificate);
  context.use_private_key_file(files.key.string(), asio::ssl::context::pem, error);
  must(error, "server.tls.key", files.key);
}

TlsContext::~TlsContext() = default;

std::unique_ptr<ByteStream> TlsContext::make_stream(StreamSocket socket) const {
  return std::make_unique<TlsStream>(std::move(socket), state_->context);
}

}  // namespace krux
