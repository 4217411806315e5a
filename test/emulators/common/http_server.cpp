#include "emulators/common/http_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>

#include "host/http/byte_stream.hpp"
#include "host/http/incoming_request.hpp"
#include "host/http/listen_socket.hpp"

namespace krux::test::emulator {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

void run_after(asio::io_context& context, std::int64_t delay_ms, std::function<void()> work) {
  auto timer = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(delay_ms));
  timer->async_wait([timer, work = std::move(work)](error_code error) {
    if (!error) work();
  });
}

HttpRequest to_request(ServerRequest came) {
  HttpRequest request{came.head_alone ? "HEAD" : std::move(came.method),
                      std::move(came.path),
                      std::move(came.query),
                      {},
                      std::move(came.body)};
  for (auto& [name, value] : came.headers) request.headers[name] = std::move(value);
  return request;
}

// What connections share.
struct Room {
  asio::io_context context{1};
  std::array<char, 16384> buffer{};
  HttpLimits limits;
  HttpServer::Handler handler;
};

// One connection. The host's server reads the request and its socket; what faults need of an answer is here. A read is
// always under way, so that a client that goes away is noticed while its request hangs.
class Connection : public Responder, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Room& room, StreamSocket socket)
      : room_(room), stream_(make_plain_stream(std::move(socket), room.buffer)) {}

  void start() { read(); }

  void answer(const HttpAnswer& answer) override { write(serialize(answer), !keep_alive_); }
  void raw_then_close(std::string bytes) override { write(std::move(bytes), true); }
  void drip(const HttpAnswer& answer, std::size_t chunk_bytes, std::int64_t interval_ms) override {
    drip_rest(std::make_shared<std::string>(serialize(answer)), 0, chunk_bytes, interval_ms);
  }
  void close() override { end(false); }
  void reset() override { end(true); }
  bool is_open() const override { return open_; }

 private:
  void end(bool with_reset) {
    if (std::exchange(open_, false)) stream_->close(with_reset);
  }

  void read() {
    stream_->read_some([self = shared_from_this()](const error_code& error, std::span<char> bytes) {
      if (error || !self->open_) return self->close();
      self->input_.append(bytes.data(), bytes.size());
      // What a client may send ahead of its answers.
      if (self->input_.size() > 2 * self->room_.limits.body_bytes) return self->close();
      self->read();
      self->parse();
    });
  }

  void parse() {
    while (!busy_ && open_ && !input_.empty()) {
      if (!incoming_) incoming_ = std::make_unique<IncomingRequest>(room_.limits);
      const auto used = incoming_->take(input_);
      input_.erase(0, used);
      if (incoming_->state() == IncomingRequest::State::kHeaderRead) accept();
      if (incoming_->state() == IncomingRequest::State::kRefused) return refuse(incoming_->refusal());
      if (incoming_->state() == IncomingRequest::State::kDone) return handle();
      if (used == 0) return;
    }
  }

  void accept() {
    incoming_->accept(std::nullopt);
    if (!incoming_->waits_for_continue() || incoming_->state() != IncomingRequest::State::kBody) return;
    stream_->write_all("HTTP/1.1 100 Continue\r\n\r\n", {}, [self = shared_from_this()](const error_code&) {});
  }

  void handle() {
    keep_alive_ = incoming_->keep_alive();
    const auto request = to_request(incoming_->finish());
    incoming_.reset();
    busy_ = true;
    room_.handler(request, shared_from_this());
  }

  void refuse(const IncomingRequest::Refusal& why) {
    busy_ = true;
    write(serialize({why.status, "text/plain", {}, why.message + "\n"}), true);
  }

  void write(std::string bytes, bool then_close) {
    if (!open_) return;
    auto held = std::make_shared<std::string>(std::move(bytes));
    stream_->write_all(*held, {}, [self = shared_from_this(), held, then_close](const error_code& error) {
      if (error || !self->open_) return self->close();
      if (then_close) return self->close_after_peer();
      self->busy_ = false;
      self->parse();
    });
  }

  // Closing with bytes unread would reset the connection and could take the answer with it: the peer goes first.
  void close_after_peer() {
    stream_->end_writing([self = shared_from_this()](const error_code&) {
      run_after(self->room_.context, 2000, [self] { self->close(); });
    });
  }

  void drip_rest(std::shared_ptr<std::string> bytes, std::size_t sent, std::size_t chunk, std::int64_t interval_ms) {
    if (!open_) return;
    const std::size_t size = std::min(chunk, bytes->size() - sent);
    const bool last = sent + size == bytes->size();
    auto next = [self = shared_from_this(), bytes, at = sent + size, chunk, interval_ms,
                 last](const error_code& error) {
      if (error || !self->open_) return self->close();
      if (last) {
        self->busy_ = false;
        return self->parse();
      }
      run_after(self->room_.context, interval_ms,
                [self, bytes, at, chunk, interval_ms] { self->drip_rest(bytes, at, chunk, interval_ms); });
    };
    stream_->write_all(std::string_view(*bytes).substr(sent, size), {}, std::move(next));
  }

  Room& room_;
  const std::unique_ptr<ByteStream> stream_;
  std::string input_;
  std::unique_ptr<IncomingRequest> incoming_;
  bool open_ = true;
  bool busy_ = false;  // a request waits for its answer
  bool keep_alive_ = true;
};

}  // namespace

struct HttpServer::Impl {
  Impl(std::uint16_t port, std::size_t max_body) : acceptor(room.context), signals(room.context, SIGTERM, SIGINT) {
    room.limits.header_bytes = 64 * 1024;
    room.limits.body_bytes = max_body;
    const int socket = listen_on_tcp("127.0.0.1", port);
    bound = bound_port(socket);
    acceptor.assign(asio::generic::stream_protocol(AF_INET, 0), socket);
  }

  void accept() {
    acceptor.async_accept(room.context, [this](const error_code& error, StreamSocket socket) {
      if (!error) {
        const int one = 1;
        setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        std::make_shared<Connection>(room, std::move(socket))->start();
      }
      if (acceptor.is_open()) accept();
    });
  }

  Room room;
  asio::basic_socket_acceptor<asio::generic::stream_protocol> acceptor;
  asio::signal_set signals;
  std::uint16_t bound = 0;
};

HttpServer::HttpServer(std::uint16_t port, std::size_t max_body) : impl_(std::make_unique<Impl>(port, max_body)) {}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return impl_->bound;
}

RunLater HttpServer::run_later() {
  return [&context = impl_->room.context](std::int64_t delay_ms, std::function<void()> work) {
    run_after(context, delay_ms, std::move(work));
  };
}

void HttpServer::run(Handler handler) {
  impl_->room.handler = std::move(handler);
  impl_->signals.async_wait([this](error_code, int) { impl_->room.context.stop(); });
  impl_->accept();
  impl_->room.context.run();
}

}  // namespace krux::test::emulator
