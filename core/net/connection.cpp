#include "core/net/connection.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <mutex>
#include <optional>
#include <thread>

#include "core/util/error.hpp"

namespace krux {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

asio::ssl::context make_tls_context(const std::string& extra_ca_file) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  if (!extra_ca_file.empty()) {
    error_code error;
    context.load_verify_file(extra_ca_file, error);
    if (error) {
      throw ConfigError(fmt::format(
          "No certificate authorities can be read from {}: {}. net.ca_file names a PEM file that the host may read.",
          extra_ca_file, error.message()));
    }
  }
  context.set_verify_mode(asio::ssl::verify_peer);
  auto* native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  return context;
}

tcp::endpoint make_endpoint(const IpAddress& address, std::uint16_t port) {
  if (!address.is_v4()) return {asio::ip::address_v6(address.bytes), port};
  asio::ip::address_v4::bytes_type v4{};
  std::copy(address.bytes.begin() + 12, address.bytes.end(), v4.begin());
  return {asio::ip::address_v4(v4), port};
}

/// Opens the socket itself, since Asio leaves it to child processes.
error_code open_socket(tcp::socket& socket, const tcp::endpoint& endpoint) {
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (fd < 0) return {errno, boost::system::system_category()};
  error_code error;
  socket.assign(endpoint.protocol(), fd, error);
  if (!error) socket.set_option(tcp::no_delay(true), error);
  return error;
}

}  // namespace

struct Network::Impl {
  explicit Impl(const std::string& extra_ca_file)
      : tls(make_tls_context(extra_ca_file)), work(loop.get_executor()), thread([this] { loop.run(); }) {}
  /// Reading the system's bundle takes tens of milliseconds: not before somebody needs it.
  void load_system_authorities() {
    std::call_once(authorities_loaded, [this] { SSL_CTX_set_default_verify_paths(tls.native_handle()); });
  }
  ~Impl() {
    work.reset();
    loop.stop();
    thread.join();
  }

  asio::io_context loop;
  asio::ssl::context tls;
  std::once_flag authorities_loaded;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::thread thread;
};

Network::Network(const std::string& extra_ca_file) : impl_(std::make_unique<Impl>(extra_ca_file)) {}
Network::~Network() = default;

struct WireConnection::Impl {
  explicit Impl(Network::Impl& n) : network(n), socket(n.loop) {}

  /// Starts an operation on the loop and waits for its end; when the wait ends first, closes the socket, which ends it.
  template <class Start>
  IoResult run(Watch& watch, Watch::Instant until, Start start);

  Network::Impl& network;
  tcp::socket socket;
  std::optional<asio::ssl::stream<tcp::socket&>> tls;
};

template <class Start>
IoResult WireConnection::Impl::run(Watch& watch, Watch::Instant until, Start start) {
  IoResult result;
  result.ended = watch.state();
  if (result.ended != Watch::Ended::kDone) return result;
  // On this stack: the wait below does not end before the handler has run.
  bool done = false;
  error_code error;
  asio::post(network.loop, [&] {
    start([&](error_code e, std::size_t bytes = 0) {
      watch.complete([&] {
        error = e;
        result.bytes = bytes;
        done = true;
      });
    });
  });
  result.ended = watch.wait(done, until);
  if (result.ended != Watch::Ended::kDone) {
    // The operation may end by itself just now: the closing has to be waited for as well.
    bool closed = false;
    asio::post(network.loop, [&] {
      error_code ignored;
      socket.close(ignored);
      watch.complete([&] { closed = true; });
    });
    watch.wait_only(closed);
    watch.wait_only(done);
    return result;
  }
  result.eof = error == asio::error::eof;
  if (error && !result.eof) result.error = error.message();
  return result;
}

WireConnection::WireConnection(Network& network) : impl_(std::make_unique<Impl>(network.impl())) {}
WireConnection::~WireConnection() = default;

IoResult WireConnection::connect(const IpAddress& address, std::uint16_t port, Watch& watch, Watch::Instant until) {
  const auto endpoint = make_endpoint(address, port);
  IoResult result;
  if (const auto error = open_socket(impl_->socket, endpoint)) {
    result.error = error.message();
    return result;
  }
  result = impl_->run(watch, until, [&](auto handler) { impl_->socket.async_connect(endpoint, handler); });
  if (result.ended == Watch::Ended::kDeadline && until < watch.deadline()) {
    result.ended = Watch::Ended::kDone;
    result.error = "no answer";
  }
  return result;
}

IoResult WireConnection::secure(const std::string& host, bool host_is_address, Watch& watch) {
  impl_->network.load_system_authorities();
  auto& tls = impl_->tls.emplace(impl_->socket, impl_->network.tls);
  SSL* native = tls.native_handle();
  static constexpr unsigned char protocols[] = "\x08http/1.1";
  SSL_set_alpn_protos(native, protocols, sizeof protocols - 1);
  SSL_set_hostflags(native, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool named =
      host_is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(native), host.c_str()) == 1
                      : SSL_set1_host(native, host.c_str()) == 1 && SSL_set_tlsext_host_name(native, host.c_str()) == 1;
  IoResult result;
  if (!named) {
    result.error = "the name cannot be verified";
    return result;
  }
  result = impl_->run(watch, watch.deadline(),
                      [&](auto handler) { tls.async_handshake(asio::ssl::stream_base::client, handler); });
  if (result.eof) result.error = "the connection was closed during the handshake";
  const long verified = SSL_get_verify_result(native);
  if (!result.error.empty() && verified != X509_V_OK) result.error = X509_verify_cert_error_string(verified);
  return result;
}

IoResult WireConnection::write(std::string_view bytes, Watch& watch) {
  return impl_->run(watch, watch.deadline(), [&](auto handler) {
    const asio::const_buffer buffer(bytes.data(), bytes.size());
    if (impl_->tls) {
      asio::async_write(*impl_->tls, buffer, handler);
    } else {
      asio::async_write(impl_->socket, buffer, handler);
    }
  });
}

IoResult WireConnection::read(char* buffer, std::size_t capacity, Watch& watch) {
  return impl_->run(watch, watch.deadline(), [&](auto handler) {
    const asio::mutable_buffer target(buffer, capacity);
    if (impl_->tls) {
      impl_->tls->async_read_some(target, handler);
    } else {
      impl_->socket.async_read_some(target, handler);
    }
  });
}

bool WireConnection::quiet() const {
  if (impl_->tls && SSL_has_pending(impl_->tls->native_handle()) == 1) return false;
  char byte = 0;
  const auto got = ::recv(impl_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace krux
