#include "host/gateway/http_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <mutex>

#include "host/gateway/byte_stream.hpp"
#include "host/gateway/event_loop.hpp"
#include "host/gateway/http_connection.hpp"
#include "host/gateway/listen_socket.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using Loops = std::vector<std::shared_ptr<EventLoop>>;

/// Connections beyond the limit that may be told so at the same time; further ones are just closed.
constexpr std::size_t kMaxRefusing = 64;
/// After accept() failed for want of descriptors or memory.
constexpr std::chrono::milliseconds kAcceptPause(100);

/// Accepts on the first loop and hands connections to all of them in turn. Alive while its accept is under way.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(const Loops& loops, int socket, std::shared_ptr<ListenerShared> shared)
      : shared_(std::move(shared)), acceptor_(loops[0]->context), pause_(loops[0]->context) {
    for (const auto& loop : loops) loops_.push_back(loop.get());
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    acceptor_.assign(asio::generic::stream_protocol(address.ss_family, 0), socket);
  }

  const ListenerShared& shared() const { return *shared_; }

  void accept() {
    EventLoop& loop = *loops_[next_++ % loops_.size()];
    acceptor_.async_accept(loop.context,
                           [self = shared_from_this(), &loop](const error_code& error, StreamSocket socket) {
                             if (!self->acceptor_.is_open()) return;
                             if (error && error != asio::error::connection_aborted) return self->pause(error);
                             if (!error) self->admit(loop, std::move(socket));
                             self->accept();
                           });
  }

  void close() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }

 private:
  void pause(const error_code& error) {
    spdlog::warn("cannot take a connection: {}", error.message());
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled && self->acceptor_.is_open()) self->accept();
    });
  }

  void admit(EventLoop& loop, StreamSocket socket) {
    const auto limit = shared_->limits.connections;
    const auto now_open = shared_->connections.load();
    if (now_open >= limit + kMaxRefusing) return;
    ++shared_->connections;
    const Peer peer = peer_of(socket.native_handle());
    const int one = 1;
    if (!peer.local) setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const bool full = now_open >= limit;
    // Those beyond the limit get their refusal in plain text even where TLS is spoken: a handshake costs too much.
    auto stream =
        shared_->tls && !full ? shared_->tls->make_stream(std::move(socket)) : make_plain_stream(std::move(socket));
    auto connection = std::make_shared<HttpConnection>(loop, shared_, std::move(stream), peer);
    asio::post(loop.context, [&loop, connection, full] {
      if (loop.stopping) return;
      loop.connections.emplace(connection.get(), connection);
      full ? connection->refuse() : connection->start();
    });
  }

  std::vector<EventLoop*> loops_;  ///< the server ends this listener before it lets go of them
  const std::shared_ptr<ListenerShared> shared_;
  Acceptor acceptor_;
  asio::steady_timer pause_;
  std::size_t next_ = 0;
};

}  // namespace

struct HttpServer::State {
  Loops loops;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::vector<std::filesystem::path> socket_files;
  bool stopped = false;

  void add(int socket, Handler handler, HttpLimits limits, std::unique_ptr<TlsContext> tls,
           std::optional<Admission> admission = {});
  std::size_t connections() const;
  void ask_to_close();
  void wait_for_connections(std::int64_t grace_ms);
  void join();
};

void HttpServer::State::add(int socket, Handler handler, HttpLimits limits, std::unique_ptr<TlsContext> tls,
                            std::optional<Admission> admission) {
  auto shared = std::make_shared<ListenerShared>();
  shared->handler = std::move(handler);
  shared->admission = std::move(admission);
  shared->limits = limits;
  shared->tls = std::move(tls);
  auto listener = std::make_shared<Listener>(loops, socket, std::move(shared));
  listeners.push_back(listener);
  asio::post(loops[0]->context, [listener] { listener->accept(); });
}

std::size_t HttpServer::State::connections() const {
  std::size_t sum = 0;
  for (const auto& listener : listeners) sum += listener->shared().connections.load();
  return sum;
}

void HttpServer::State::ask_to_close() {
  asio::post(loops[0]->context, [all = listeners] {
    for (const auto& listener : all) listener->close();
  });
  for (const auto& loop : loops) {
    asio::post(loop->context, [raw = loop.get()] {
      raw->stopping = true;
      const auto all = raw->connections;  // closing takes them out of the loop's own
      for (const auto& [key, connection] : all) connection->shut_down();
    });
  }
}

void HttpServer::State::wait_for_connections(std::int64_t grace_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(grace_ms);
  while (connections() > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Nothing is left in the loops afterwards: an answer that comes late may keep one of them alive without the others.
void HttpServer::State::join() {
  for (const auto& loop : loops) loop->context.stop();
  for (const auto& loop : loops) {
    if (loop->thread.joinable()) loop->thread.join();
  }
  for (const auto& listener : listeners) listener->close();
  for (const auto& loop : loops) {
    loop->stopping = true;
    const auto all = loop->connections;
    for (const auto& [key, connection] : all) connection->close(false);
  }
  for (const auto& loop : loops) {
    loop->work.reset();
    loop->context.restart();
    loop->context.poll();
  }
}

HttpServer::HttpServer(int threads, Begin begin) : state_(std::make_unique<State>()) {
  for (int i = 0; i < threads; ++i) state_->loops.push_back(std::make_shared<EventLoop>());
  if (begin == Begin::kAtOnce) serve();
}

void HttpServer::serve() {
  for (const auto& loop : state_->loops) {
    loop->thread = std::thread([raw = loop.get()] { raw->context.run(); });
  }
}

HttpServer::~HttpServer() {
  stop(0);
}

HttpServer::Bound HttpServer::listen_tcp(const std::string& host, std::uint16_t port, Handler handler,
                                         HttpLimits limits, const std::optional<TlsFiles>& tls,
                                         std::optional<Admission> admission) {
  auto context = tls ? std::make_unique<TlsContext>(*tls) : nullptr;
  const int socket = listen_on_tcp(host, port);
  const Bound bound{bound_port(socket), is_bound_to_loopback(socket)};
  state_->add(socket, std::move(handler), limits, std::move(context), std::move(admission));
  return bound;
}

void HttpServer::listen_unix(const std::filesystem::path& path, Handler handler, HttpLimits limits) {
  state_->add(listen_on_unix(path), std::move(handler), limits, nullptr);
  state_->socket_files.push_back(path);
}

std::size_t HttpServer::connections() const {
  return state_->connections();
}

void HttpServer::stop(std::int64_t grace_ms) {
  if (std::exchange(state_->stopped, true)) return;
  state_->ask_to_close();
  state_->wait_for_connections(grace_ms);
  state_->join();
  for (const auto& file : state_->socket_files) ::unlink(file.c_str());
}

}  // namespace krux
