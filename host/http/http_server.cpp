#include "host/http/http_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "host/http/byte_stream.hpp"
#include "host/http/event_loop.hpp"
#include "host/http/http_connection.hpp"
#include "host/http/listen_socket.hpp"
#include "host/http/listener.hpp"
#include "host/http/loop_watch.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

/// How often the deadlines must be looked at so that no limit is overrun by much.
std::int64_t look_every_ms(const HttpLimits& limits) {
  const auto shortest = std::min({limits.header_ms, limits.body_ms, limits.idle_ms, limits.write_ms,
                                  limits.keyed_header_ms, limits.keyed_idle_ms, limits.ping_ms, limits.pong_ms});
  return std::max<std::int64_t>(1, shortest / 8);
}

/// For lent threads, once nobody is waited for any more.
constexpr std::chrono::milliseconds kPatience(250);

}  // namespace

struct HttpServer::State {
  std::shared_ptr<LoopWatch> watch;  ///< none: handlers are brief
  std::vector<std::shared_ptr<EventLoop>> loops;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::vector<std::filesystem::path> socket_files;
  bool stopped = false;

  std::function<PlaceFigures()> add(int socket, Handler handler, HttpLimits limits, std::unique_ptr<TlsContext> tls,
                                    Admission admission = {});
  std::size_t connections() const;
  void ask_to_close();
  void wait_for_connections(std::int64_t grace_ms);
  void join();
};

std::function<PlaceFigures()> HttpServer::State::add(int socket, Handler handler, HttpLimits limits,
                                                     std::unique_ptr<TlsContext> tls, Admission admission) {
  for (const auto& loop : loops) loop->look_every(look_every_ms(limits));
  auto shared = std::make_shared<ListenerShared>(std::move(handler), limits, std::move(admission));
  shared->tls = std::move(tls);
  auto listener = std::make_shared<Listener>(loops, socket, shared);
  listeners.push_back(listener);
  asio::post(loops[0]->context, [listener] { listener->accept(); });
  return [shared = std::move(shared)] { return shared->places.figures(); };
}

std::size_t HttpServer::State::connections() const {
  std::size_t sum = 0;
  for (const auto& listener : listeners) sum += listener->shared().connections.load();
  return sum;
}

void HttpServer::State::ask_to_close() {
  loops[0]->post([all = listeners] {
    for (const auto& listener : all) listener->close();
  });
  for (const auto& loop : loops) {
    loop->post([raw = loop.get()] {
      raw->stopping = true;
      for (const auto& connection : raw->connections()) connection->shut_down();
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
  if (watch) watch->stop();
  for (const auto& loop : loops) loop->context.stop();
  for (const auto& loop : loops) loop->lead.end(kPatience);
  for (const auto& listener : listeners) listener->close();
  for (const auto& loop : loops) {
    loop->stopping = true;
    for (const auto& connection : loop->connections()) connection->close(false);
  }
  for (const auto& loop : loops) {
    loop->work.reset();
    loop->context.restart();
    loop->context.poll();
  }
}

HttpServer::HttpServer(int threads, Begin begin, const Clock* clock, Handlers handlers)
    : state_(std::make_unique<State>()) {
  if (handlers == Handlers::kTakeTime) state_->watch = std::make_shared<LoopWatch>();
  for (int i = 0; i < threads; ++i)
    state_->loops.push_back(std::make_shared<EventLoop>(clock ? *clock : system_clock(), state_->watch));
  if (begin == Begin::kAtOnce) serve();
}

void HttpServer::serve() {
  std::vector<LoopLead*> leads;
  for (const auto& loop : state_->loops) {
    loop->lead.begin(loop);
    leads.push_back(&loop->lead);
  }
  if (state_->watch) state_->watch->start(std::move(leads));
}

bool HttpServer::thread_is_lent() {
  return LoopLead::thread_is_lent();
}

HttpServer::~HttpServer() {
  stop(0);
}

HttpServer::Bound HttpServer::listen_tcp(const std::string& host, std::uint16_t port, Handler handler,
                                         HttpLimits limits, const std::optional<TlsFiles>& tls, Admission admission) {
  auto context = tls ? std::make_unique<TlsContext>(*tls) : nullptr;
  const int socket = listen_on_tcp(host, port);
  Bound bound{bound_port(socket), is_bound_to_loopback(socket), {}};
  bound.figures = state_->add(socket, std::move(handler), limits, std::move(context), std::move(admission));
  return bound;
}

HttpServer::Bound HttpServer::listen_unix(const std::filesystem::path& path, Handler handler, HttpLimits limits) {
  Bound bound{0, true, state_->add(listen_on_unix(path), std::move(handler), limits, nullptr)};
  state_->socket_files.push_back(path);
  return bound;
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
