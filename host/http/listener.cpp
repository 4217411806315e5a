#include "host/http/listener.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include "host/http/http_connection.hpp"
#include "host/http/listen_socket.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

/// Connections beyond the limit that may be open at a time: some were asked to go and have not done so yet, and some
/// are told that they are too many.
constexpr std::size_t kMaxBeyond = 64, kMaxRefusing = 32;
/// Until those have gone.
constexpr milliseconds kPauseForOthers(1);
/// After accept() failed for want of descriptors or memory.
constexpr milliseconds kPauseForWant(100);
constexpr milliseconds kRefillEvery(100);
constexpr std::int64_t kTellEveryMs = 60'000;
constexpr int kKernelUnsentBytes = 128 * 1024;

}  // namespace

Listener::Listener(const std::vector<std::shared_ptr<EventLoop>>& loops, int socket,
                   std::shared_ptr<ListenerShared> shared)
    : shared_(std::move(shared)),
      acceptor_(loops[0]->context),
      pause_(loops[0]->context),
      refill_(loops[0]->context),
      spare_(shared_->limits.spare_descriptors) {
  for (const auto& loop : loops) loops_.push_back(loop.get());
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  acceptor_.assign(asio::generic::stream_protocol(address.ss_family, 0), socket);
}

void Listener::accept() {
  if (shared_->connections >= shared_->limits.connections + kMaxBeyond) return accept_after(kPauseForOthers);
  EventLoop& loop = *loops_[next_++ % loops_.size()];
  acceptor_.async_accept(loop.context,
                         [self = shared_from_this(), &loop](const error_code& error, StreamSocket socket) {
                           if (!self->acceptor_.is_open()) return;
                           if (error && error != asio::error::connection_aborted) return self->failed(error);
                           if (!error) self->admit(loop, std::move(socket));
                           self->accept();
                         });
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  refill_.cancel();
}

/// Without descriptors accept() fails even where nobody waits to be taken.
void Listener::failed(const error_code& error) {
  pollfd waits{acceptor_.native_handle(), POLLIN, 0};
  if (::poll(&waits, 1, 0) == 0) {
    acceptor_.async_wait(Acceptor::wait_read, [self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled && self->acceptor_.is_open()) self->accept();
    });
    return;
  }
  tell(error);
  if (spare_.give_one()) {
    refill_later();
    return accept();
  }
  shared_->places.make_room();
  accept_after(kPauseForWant);
}

void Listener::accept_after(milliseconds pause) {
  pause_.expires_after(pause);
  pause_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    if (!cancelled && self->acceptor_.is_open()) self->accept();
  });
}

void Listener::refill_later() {
  if (std::exchange(refills_, true)) return;
  refill_.expires_after(kRefillEvery);
  refill_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    self->refills_ = false;
    if (!cancelled && !self->spare_.refill()) self->refill_later();
  });
}

/// It fails as often as somebody tries: one line a minute is enough.
void Listener::tell(const error_code& error) {
  const auto now = loops_[0]->clock.boot_ms();
  ++untold_;
  if (told_ms_ >= 0 && now - told_ms_ < kTellEveryMs) return;
  spdlog::warn("cannot take connections: {} ({} times since the last such line)", error.message(), untold_);
  told_ms_ = now;
  untold_ = 0;
}

void Listener::admit(EventLoop& loop, StreamSocket socket) {
  ++shared_->connections;
  const Peer peer = peer_of(socket.native_handle());
  const int one = 1;
  if (!peer.local) {
    setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // What is written counts as received: a client that reads slowly must not be asked for a pong while megabytes wait
    // here.
    setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kKernelUnsentBytes, sizeof kKernelUnsentBytes);
  }
  // The connection is there before it can be asked to go: it is added to its loop first.
  const auto key = std::make_shared<HttpConnection*>(nullptr);
  auto place = shared_->places.enter([&loop, key] {
    loop.post([&loop, key] {
      if (const auto connection = loop.find(*key)) connection->go();
    });
  });
  if (!place && shared_->connections > shared_->limits.connections + kMaxRefusing) {
    --shared_->connections;
    return;  // closed, and that is all
  }
  // Those beyond the limit get their refusal in plain text even where TLS is spoken: a handshake costs too much.
  auto stream = shared_->tls && place ? shared_->tls->make_stream(std::move(socket))
                                      : make_plain_stream(std::move(socket), loop.buffer);
  auto connection = std::make_shared<HttpConnection>(loop, shared_, std::move(stream), peer, std::move(place));
  loop.post([&loop, key, connection] {
    if (loop.stopping) return;
    *key = connection.get();
    loop.add(connection);
    connection->start();
  });
}

}  // namespace krux
