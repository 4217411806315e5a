#include "emulators/common/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <optional>

namespace krux::test::emulator {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

void run_after(asio::io_context& context, std::int64_t delay_ms, std::function<void()> work) {
  auto timer = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(delay_ms));
  timer->async_wait([timer, work = std::move(work)](error_code error) {
    if (!error) work();
  });
}

HttpRequest to_request(const http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  const std::string target(message.target());
  const std::size_t query = target.find('?');
  request.path = target.substr(0, query);
  if (query != std::string::npos) request.query = target.substr(query + 1);
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = std::string(field.value());
  }
  request.body = message.body();
  return request;
}

// One connection. A read is always under way, so that a client that goes away is noticed while its request hangs.
class Connection : public Responder, public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const HttpServer::Handler& handler, std::size_t max_body)
      : socket_(std::move(socket)), handler_(handler), max_body_(max_body) {}

  void start() { read(); }

  void answer(const HttpAnswer& answer) override { write(serialize(answer), !keep_alive_); }
  void raw_then_close(std::string bytes) override { write(std::move(bytes), true); }
  void drip(const HttpAnswer& answer, std::size_t chunk_bytes, std::int64_t interval_ms) override {
    drip_rest(std::make_shared<std::string>(serialize(answer)), 0, chunk_bytes, interval_ms);
  }
  void close() override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }
  void reset() override {
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
  }
  bool is_open() const override { return socket_.is_open(); }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](error_code error, std::size_t size) {
      if (error) return self->close();
      self->input_.append(self->chunk_.data(), size);
      // What a client may send ahead of its answers.
      if (self->input_.size() > 2 * self->max_body_) return self->close();
      self->read();
      self->parse();
    });
  }

  void parse() {
    if (busy_ || input_.empty() || !socket_.is_open()) return;
    if (!parser_) {
      parser_.emplace();
      parser_->eager(true);
      parser_->body_limit(max_body_);
      parser_->header_limit(64 * 1024);
    }
    error_code error;
    const std::size_t used = parser_->put(asio::buffer(input_), error);
    input_.erase(0, used);
    if (error == http::error::need_more) return;
    if (error) return refuse(error == http::error::body_limit ? 413 : 400);
    if (!parser_->is_done()) return;
    keep_alive_ = parser_->get().keep_alive();
    const HttpRequest request = to_request(parser_->get());
    parser_.reset();
    busy_ = true;
    handler_(request, shared_from_this());
  }

  void refuse(int status) {
    HttpAnswer answer;
    answer.status = status;
    answer.content_type = "text/plain";
    answer.body = "This is no request that can be read.\n";
    busy_ = true;
    write(serialize(answer), true);
  }

  void write(std::string bytes, bool then_close) {
    if (!socket_.is_open()) return;
    auto held = std::make_shared<std::string>(std::move(bytes));
    asio::async_write(socket_, asio::buffer(*held),
                      [self = shared_from_this(), held, then_close](error_code error, std::size_t) {
                        if (error) return self->close();
                        if (then_close) return self->close_after_peer();
                        self->busy_ = false;
                        self->parse();
                      });
  }

  // Closing with bytes unread would reset the connection and could take the answer with it: the peer goes first.
  void close_after_peer() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    run_after(static_cast<asio::io_context&>(socket_.get_executor().context()), 2000,
              [self = shared_from_this()] { self->close(); });
  }

  void drip_rest(std::shared_ptr<std::string> bytes, std::size_t sent, std::size_t chunk, std::int64_t interval_ms) {
    if (!socket_.is_open()) return;
    const std::size_t size = std::min(chunk, bytes->size() - sent);
    const bool last = sent + size == bytes->size();
    auto next = [self = shared_from_this(), bytes, at = sent + size, chunk, interval_ms, last](error_code error,
                                                                                               std::size_t) {
      if (error) return self->close();
      if (last) {
        self->busy_ = false;
        return self->parse();
      }
      run_after(static_cast<asio::io_context&>(self->socket_.get_executor().context()), interval_ms,
                [self, bytes, at, chunk, interval_ms] { self->drip_rest(bytes, at, chunk, interval_ms); });
    };
    asio::async_write(socket_, asio::buffer(bytes->data() + sent, size), std::move(next));
  }

  tcp::socket socket_;
  const HttpServer::Handler& handler_;
  const std::size_t max_body_;
  std::array<char, 16384> chunk_{};
  std::string input_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool busy_ = false;  // a request waits for its answer
  bool keep_alive_ = true;
};

}  // namespace

struct HttpServer::Impl {
  Impl(std::uint16_t port, std::size_t the_max_body)
      : acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
        signals(context, SIGTERM, SIGINT),
        max_body(the_max_body) {}

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (!error) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Connection>(std::move(socket), handler, max_body)->start();
      }
      if (acceptor.is_open()) accept();
    });
  }

  asio::io_context context{1};
  tcp::acceptor acceptor;
  asio::signal_set signals;
  const std::size_t max_body;
  Handler handler;
};

HttpServer::HttpServer(std::uint16_t port, std::size_t max_body) : impl_(std::make_unique<Impl>(port, max_body)) {}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return impl_->acceptor.local_endpoint().port();
}

RunLater HttpServer::run_later() {
  return [&context = impl_->context](std::int64_t delay_ms, std::function<void()> work) {
    run_after(context, delay_ms, std::move(work));
  };
}

void HttpServer::run(Handler handler) {
  impl_->handler = std::move(handler);
  impl_->signals.async_wait([this](error_code, int) { impl_->context.stop(); });
  impl_->accept();
  impl_->context.run();
}

}  // namespace krux::test::emulator
