#include "host/gateway/http_connection.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <string.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "core/util/error.hpp"
#include "host/gateway/body_writer.hpp"
#include "host/gateway/response_head.hpp"

namespace krux {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::int64_t kDrainMs = 2'000, kDrainWhenStoppingMs = 200;
constexpr std::size_t kMaxDrained = 32u << 20;  // what a refused client may still send while it reads the answer

std::chrono::milliseconds shortest(const HttpLimits& limits) {
  return milliseconds(
      std::max<std::int64_t>(1, std::min({limits.header_ms, limits.body_ms, limits.idle_ms, limits.write_ms})));
}

bool is_served_method(std::string_view method) {
  constexpr std::array<std::string_view, 7> served{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return std::find(served.begin(), served.end(), method) != served.end();
}

/// One request's answer. Whoever answers may be on any thread and may come after the connection, even after the server.
class PendingAnswer {
 public:
  PendingAnswer(std::shared_ptr<EventLoop> loop, std::weak_ptr<HttpConnection> connection)
      : loop_(std::move(loop)), connection_(std::move(connection)) {}
  ~PendingAnswer() {
    give(error_response(500, "Internal", "The host did not answer this request. Its log says more."));
  }
  PendingAnswer(const PendingAnswer&) = delete;
  PendingAnswer& operator=(const PendingAnswer&) = delete;

  void give(ServerResponse response) {
    if (given_.exchange(true)) return;
    asio::dispatch(loop_->context, [connection = connection_, response = std::move(response)]() mutable {
      if (const auto alive = connection.lock()) alive->answer(std::move(response));
    });
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::weak_ptr<HttpConnection> connection_;
  std::atomic<bool> given_{false};
};

/// The request without its body and its sender.
ServerRequest request_of(const http::request<http::string_body>& message) {
  const std::string_view method(message.method_string().data(), message.method_string().size());
  ServerRequest request;
  request.head_alone = method == "HEAD";
  request.method = request.head_alone ? "GET" : std::string(method);
  const std::string_view target(message.target().data(), message.target().size());
  const auto query = target.find('?');
  request.path = target.substr(0, query);
  if (query != std::string_view::npos) request.query = target.substr(query + 1);
  for (const auto& field : message) {
    std::string name(field.name_string().data(), field.name_string().size());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    request.headers.emplace_back(std::move(name), std::string(field.value().data(), field.value().size()));
  }
  return request;
}

}  // namespace

struct HttpConnection::Parsing {
  Parsing(const HttpLimits& limits, bool header_alone) : most_bytes(limits.body_bytes) {
    parser.eager(!header_alone);
    parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    // Which limit counts is only known behind the header, and the parser looks at the length with it.
    if (header_alone) {
      parser.body_limit(boost::none);
    } else {
      parser.body_limit(limits.body_bytes);
    }
  }
  http::request_parser<http::string_body> parser;
  bool header_checked = false;
  std::uint64_t most_bytes;        ///< of the body
  std::optional<BodyWriter> body;  ///< where it goes instead of into memory
};

HttpConnection::HttpConnection(EventLoop& loop, std::shared_ptr<ListenerShared> listener,
                               std::unique_ptr<ByteStream> stream, Peer peer)
    : loop_(loop),
      listener_(std::move(listener)),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      tick_(shortest(listener_->limits)),
      timer_(loop.context) {}

HttpConnection::~HttpConnection() {
  --listener_->connections;
}

void HttpConnection::start() {
  enter(Phase::kHandshake, listener_->limits.header_ms);
  watch();
  stream_->handshake([self = shared_from_this()](const error_code& error, std::size_t) {
    if (self->phase_ == Phase::kClosed) return;
    if (error) return self->close(false);
    self->enter(Phase::kIdle, self->listener_->limits.header_ms);
    self->read();
  });
}

void HttpConnection::refuse() {
  fail(503, "There are too many connections to the host. Close idle ones, or come back later.");
  watch();
}

void HttpConnection::shut_down() {
  keep_alive_ = false;
  if (phase_ == Phase::kHandling || phase_ == Phase::kWriting) return;
  close(false);
}

void HttpConnection::close(bool reset) {
  if (phase_ == Phase::kClosed) return;
  const auto self = shared_from_this();
  phase_ = Phase::kClosed;
  timer_.cancel();
  stream_->close(reset);
  loop_.connections.erase(this);
}

// ---- time

void HttpConnection::enter(Phase phase, std::int64_t timeout_ms) {
  phase_ = phase;
  deadline_ = std::chrono::steady_clock::now() + milliseconds(timeout_ms);
}

/// Phases change far more often than one runs out of time, so that the timer is not set anew with each: it looks every
/// `tick_` at the deadline of the present phase, and is exact since no phase is shorter than a tick.
void HttpConnection::watch() {
  const auto next = std::chrono::steady_clock::now() + tick_;
  timer_.expires_at(phase_ == Phase::kHandling ? next : std::min(next, deadline_));
  timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->phase_ == Phase::kClosed) return;
    if (self->phase_ != Phase::kHandling && std::chrono::steady_clock::now() >= self->deadline_) self->out_of_time();
    if (self->phase_ != Phase::kClosed) self->watch();
  });
}

void HttpConnection::out_of_time() {
  switch (phase_) {
    case Phase::kHeader:
      return fail(408, "The request's header did not arrive in time. Send it again, without pauses.");
    case Phase::kBody:
      return fail(408, "The request's body did not arrive in time. Send it again, without pauses.");
    case Phase::kWriting:
      return close(true);
    default:
      return close(false);
  }
}

// ---- reading

void HttpConnection::read() {
  reading_ = true;
  stream_->read_some(chunk_.data(), chunk_.size(),
                     [self = shared_from_this()](const error_code& error, std::size_t size) {
                       self->reading_ = false;
                       if (self->phase_ == Phase::kClosed) return;
                       if (error && self->phase_ != Phase::kWriting) return self->close(false);
                       if (!error) self->received(size);
                     });
}

void HttpConnection::received(std::size_t size) {
  if (phase_ == Phase::kDraining) {
    drained_ += size;
    return drained_ > kMaxDrained ? close(true) : read();
  }
  if (phase_ == Phase::kWriting) return;  // a refusal is being written; what comes now is of no interest
  input_.append(chunk_.data(), size);
  explicit_bzero(chunk_.data(), size);
  parse();
}

void HttpConnection::parse() {
  if (!parsing_) parsing_ = std::make_unique<Parsing>(listener_->limits, listener_->admission.has_value());
  auto& parser = parsing_->parser;
  error_code error;
  do {
    const auto used = parser.put(asio::buffer(input_), error);
    explicit_bzero(input_.data(), used);  // keys and tokens do not linger
    input_.erase(0, used);
    if (error == http::error::body_limit)
      return fail(413, fmt::format("The request's body is larger than {} bytes.", parsing_->most_bytes));
    if (error == http::error::header_limit)
      return fail(431, fmt::format("The request's header is larger than {} bytes.", listener_->limits.header_bytes));
    if (error && error != http::error::need_more)
      return fail(400, fmt::format("This is not an HTTP request: {}.", error.message()));
    if (parser.is_header_done() && !parsing_->header_checked && !(header_is_fit() && admitted())) return;
    if (!keep_body()) return;
  } while (!error && !parser.is_done() && !input_.empty());
  if (parser.is_done()) return handle();
  expect_more();
  read();
}

/// What is admitted to a file goes there; of everything else the ordinary limit counts. False: it was refused.
bool HttpConnection::admitted() {
  auto& parser = parsing_->parser;
  if (listener_->admission) {
    const std::string_view target(parser.get().target().data(), parser.get().target().size());
    if (target.substr(0, target.find('?')) == listener_->admission->path) {
      auto head = request_of(parser.get());
      head.peer = peer_;
      auto verdict = listener_->admission->admit(head);
      if (auto* refusal = std::get_if<ServerResponse>(&verdict)) return refuse(std::move(*refusal)), false;
      if (const auto* to = std::get_if<BodyToFile>(&verdict)) {
        parsing_->most_bytes = to->most_bytes;
        try {
          parsing_->body.emplace(*to);
        } catch (const Error& error) {
          return fail(503, error.what()), false;
        }
      }
    }
    parser.eager(true);
    parser.body_limit(parsing_->most_bytes);
    const auto length = parser.content_length();
    if (length && *length > parsing_->most_bytes)
      return fail(413, fmt::format("The request's body is larger than {} bytes.", parsing_->most_bytes)), false;
  }
  return go_on();
}

bool HttpConnection::keep_body() {
  if (!parsing_->body) return true;
  auto& bytes = parsing_->parser.get().body();
  if (!parsing_->body->write(bytes)) {
    fail(503, "The host's disk does not take the body. Ask the operator to look at the space that is left.");
    return false;
  }
  bytes.clear();
  return true;
}

/// Sets the time for what is still to come.
void HttpConnection::expect_more() {
  const auto& limits = listener_->limits;
  if (!parsing_->parser.is_header_done()) {
    if (phase_ == Phase::kIdle && !input_.empty()) enter(Phase::kHeader, limits.header_ms);
  } else {
    if (phase_ != Phase::kBody) {
      body_began_ = std::chrono::steady_clock::now();
      enter(Phase::kBody, limits.body_ms);
    }
    if (parsing_->body) deadline_ = body_began_ + milliseconds(parsing_->body->allowed_ms());
  }
}

/// Checks what the parser leaves open. False when the request was refused.
bool HttpConnection::header_is_fit() {
  parsing_->header_checked = true;
  const auto& message = parsing_->parser.get();
  const auto refuse = [this](int status, std::string_view why) {
    fail(status, why);
    return false;
  };
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() == 11)) return refuse(400, "The request needs one Host header.");
  const std::string_view method(message.method_string().data(), message.method_string().size());
  if (!is_served_method(method)) return refuse(405, "This method is not served here.");
  if (message.target().empty() || message.target().front() != '/')
    return refuse(400, "The request's target must be a path that begins with '/'.");
  // Of another coding only the sender knows where the body ends, and what follows would be taken for a request.
  const auto coding = message.find(http::field::transfer_encoding);
  if (message.count(http::field::transfer_encoding) > 1 ||
      (coding != message.end() && !boost::beast::iequals(coding->value(), "chunked")))
    return refuse(501, "Of Transfer-Encoding, only chunked is known: send the body so, or with its Content-Length.");
  const auto expects = message.find(http::field::expect);
  if (expects != message.end() && !boost::beast::iequals(expects->value(), "100-continue"))
    return refuse(417, "Of Expect, only 100-continue is known.");
  return true;
}

/// Tells a client that waits for it that its body is wanted.
bool HttpConnection::go_on() {
  const auto& message = parsing_->parser.get();
  const bool waits = message.find(http::field::expect) != message.end();
  if (waits && !parsing_->parser.is_done() && message.version() == 11) {
    static constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
    stream_->write_all(interim, {}, [self = shared_from_this()](const error_code&, std::size_t) {});
  }
  return true;
}

void HttpConnection::handle() {
  auto message = parsing_->parser.release();
  head_only_ = message.method() == http::verb::head;
  old_version_ = message.version() == 10;
  keep_alive_ = message.keep_alive() && !loop_.stopping;
  auto request = request_of(message);
  if (parsing_->body) request.body_file = parsing_->body->finish();
  parsing_.reset();
  request.body = std::move(message.body());
  request.peer = peer_;
  phase_ = Phase::kHandling;
  const auto pending = std::make_shared<PendingAnswer>(loop_.shared_from_this(), weak_from_this());
  try {
    listener_->handler(std::move(request), [pending](ServerResponse response) { pending->give(std::move(response)); });
  } catch (const std::exception& error) {
    spdlog::error("a request could not be handled: {}", error.what());
    pending->give(error_response(500, "Internal", "The host could not handle this request. Its log says more."));
  }
}

void HttpConnection::refuse(ServerResponse response) {
  keep_alive_ = head_only_ = false;
  if (parsing_) parsing_->body.reset();  // its room is wanted before the client has gone
  write(std::move(response));
}

void HttpConnection::fail(int status, std::string_view message) {
  const auto* type = status == 408 ? "Timeout" : status == 503 ? "ServiceUnavailable" : "InvalidInput";
  refuse(error_response(status, type, message));
}

// ---- writing

void HttpConnection::answer(ServerResponse response) {
  if (phase_ == Phase::kHandling) write(std::move(response));
}

void HttpConnection::write(ServerResponse response) {
  if (loop_.stopping) keep_alive_ = false;
  enter(Phase::kWriting, listener_->limits.write_ms);
  out_ = std::move(response);
  out_head_ = response_head(out_, keep_alive_, old_version_);
  const bool no_body = head_only_ || out_.status == 204;
  stream_->write_all(out_head_, no_body ? std::string_view() : std::string_view(out_.body),
                     [self = shared_from_this()](const error_code& error, std::size_t) {
                       if (self->phase_ == Phase::kClosed) return;
                       error ? self->close(true) : self->written();
                     });
}

void HttpConnection::written() {
  out_ = {};
  if (!keep_alive_) return drain();
  enter(Phase::kIdle, listener_->limits.idle_ms);
  if (input_.empty()) return read();
  parse();
}

/// Closing with bytes unread would reset the connection and take the answer away from a client that is still sending.
void HttpConnection::drain() {
  enter(Phase::kDraining, loop_.stopping ? kDrainWhenStoppingMs : kDrainMs);
  watch();
  explicit_bzero(input_.data(), input_.size());
  input_.clear();
  stream_->end_writing([self = shared_from_this()](const error_code& error, std::size_t) {
    if (self->phase_ == Phase::kClosed) return;
    if (error) return self->close(false);
    if (!self->reading_) self->read();
  });
}

}  // namespace krux
