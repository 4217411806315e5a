#include "host/http/http_connection.hpp"

#include <spdlog/spdlog.h>
#include <string.h>

#include <algorithm>

#include "core/util/error.hpp"

namespace krux {
namespace {

using boost::system::error_code;

constexpr std::int64_t kLastChanceMs = 250;
constexpr std::size_t kMaxDrained = 32u << 20;  // what a refused client may still send while it reads the answer

/// One request's answer. Whoever answers may be on any thread and may come after the connection, even after the server.
class PendingAnswer {
 public:
  PendingAnswer(std::shared_ptr<EventLoop> loop, std::weak_ptr<HttpConnection> connection)
      : loop_(std::move(loop)), connection_(std::move(connection)) {}
  ~PendingAnswer() {
    if (!given_) give(error_response(ErrorCode::kInternal, "The host did not answer this request. Its log says more."));
  }
  PendingAnswer(const PendingAnswer&) = delete;
  PendingAnswer& operator=(const PendingAnswer&) = delete;

  void give(ServerResponse response) {
    if (given_.exchange(true)) return;
    const auto all = std::make_shared<ServerResponse>(std::move(response));
    std::function<void()> answer = [connection = connection_, all] {
      if (const auto alive = connection.lock()) alive->answer(std::move(*all));
    };
    if (!loop_->lead.when_back(answer)) loop_->post(std::move(answer));
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::weak_ptr<HttpConnection> connection_;
  std::atomic<bool> given_{false};
};

}  // namespace

HttpConnection::HttpConnection(EventLoop& loop, std::shared_ptr<ListenerShared> listener,
                               std::unique_ptr<ByteStream> stream, Peer peer,
                               std::unique_ptr<ConnectionPlaces::Place> place)
    : loop_(loop),
      listener_(std::move(listener)),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      place_(std::move(place)) {}

HttpConnection::~HttpConnection() {
  --listener_->connections;
}

void HttpConnection::start() {
  if (!place_) return fail(503, "There are too many connections to the host. Close idle ones, or come back later.");
  enter(Phase::kHandshake, header_ms());
  stream_->handshake([self = shared_from_this()](const error_code& error) {
    if (self->phase_ == Phase::kClosed) return;
    if (error) return self->close(false);
    self->phase_ = Phase::kIdle;
    self->read();
  });
}

void HttpConnection::shut_down() {
  keep_alive_ = false;
  if (phase_ == Phase::kHandling || phase_ == Phase::kWriting) return;
  if (phase_ == Phase::kHolding) return write(std::exchange(out_, {}));
  if (phase_ == Phase::kStreaming) return cut_short();
  if (phase_ == Phase::kSocket) return socket_->go_away();
  close(false);
}

void HttpConnection::go() {
  if (phase_ == Phase::kClosed || !place_->must_go()) return;
  if (phase_ == Phase::kSocket) return socket_->make_way();
  // Among many that come at a time, an agent's request may be there and not have been looked at yet.
  if (phase_ <= Phase::kIdle && first_ && !last_chance_ && stream_->has_bytes()) {
    last_chance_ = true;
    deadline_ms_ = std::min(deadline_ms_, loop_.clock.boot_ms() + kLastChanceMs);
    return;
  }
  // A stranger's socket would linger in the kernel for as long as he likes; an agent's client sees an orderly end.
  close(!key_shown_);
}

void HttpConnection::close(bool reset) {
  if (phase_ == Phase::kClosed) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::kHandling) loop_.handled(under_way_);
  phase_ = Phase::kClosed;
  stream_->close(reset);
  loop_.remove(this);
  if (parts_) parts_->close();
  if (socket_) socket_->gone();
}

// ---- time

void HttpConnection::enter(Phase phase, std::int64_t timeout_ms) {
  phase_ = phase;
  deadline_ms_ = loop_.clock.boot_ms() + timeout_ms;
}

std::int64_t HttpConnection::header_ms() const {
  return key_shown_ ? listener_->limits.keyed_header_ms : listener_->limits.header_ms;
}

bool HttpConnection::is_answering() const {
  return phase_ == Phase::kHandling || phase_ == Phase::kHolding || phase_ == Phase::kWriting;
}

bool HttpConnection::is_late(std::int64_t now_ms) const {
  if (phase_ == Phase::kSocket) return socket_->is_late(now_ms);
  return phase_ != Phase::kHandling && phase_ != Phase::kHolding && now_ms >= deadline_ms_;
}

void HttpConnection::out_of_time() {
  switch (phase_) {
    case Phase::kHeader:
      return fail(408, "The request's header did not arrive in time. Send it again, without pauses.");
    case Phase::kBody:
      return fail(408, "The request's body did not arrive in time. Send it again, without pauses.");
    case Phase::kStreaming:
    case Phase::kWriting:
      return close(true);
    case Phase::kSocket:
      return socket_->out_of_time();
    default:
      return close(false);
  }
}

// ---- reading

void HttpConnection::read() {
  if (std::exchange(reading_, true)) return;
  stream_->read_some([self = shared_from_this()](const error_code& error, std::span<char> bytes) {
    self->reading_ = false;
    if (self->phase_ == Phase::kClosed) return;
    if (error && self->phase_ == Phase::kSocket) return self->socket_->lost(error);
    if (error && !self->is_answering()) return self->close(false);
    if (!error) self->received(bytes);
    if (self->last_chance_) self->go();
  });
}

void HttpConnection::received(std::span<char> bytes) {
  if (phase_ == Phase::kDraining) {
    drained_ += bytes.size();
    return drained_ > kMaxDrained ? close(true) : read();
  }
  if (phase_ == Phase::kSocket) {
    socket_->came(bytes);
    return explicit_bzero(bytes.data(), bytes.size());
  }
  input_.append(bytes.data(), bytes.size());
  explicit_bzero(bytes.data(), bytes.size());
  // Of a read beside an answer: one in parts, what stood behind it, or a refusal of a request that has not come whole.
  // What it brings is for afterwards, or for nobody.
  if (phase_ == Phase::kStreaming) return input_.size() > listener_->limits.header_bytes ? close(true) : read();
  if (!is_answering()) parse();
}

void HttpConnection::parse() {
  using State = IncomingRequest::State;
  if (!incoming_) incoming_ = std::make_unique<IncomingRequest>(listener_->limits);
  for (std::size_t used = 1; used > 0 && !input_.empty();) {
    used = incoming_->take(input_);
    explicit_bzero(input_.data(), used);  // keys and tokens do not linger
    input_.erase(0, used);
    if (incoming_->state() == State::kHeaderRead && !admit()) return;
    if (incoming_->state() == State::kRefused) return fail(incoming_->refusal().status, incoming_->refusal().message);
    if (incoming_->state() == State::kDone) return handle();
  }
  expect_more();
  read();
}

/// Who may not send this request is told so before the body has come. False: it was refused.
bool HttpConnection::admit() {
  auto& request = incoming_->request();
  request.peer = peer_;
  payer_.clear();
  request_bytes_ = 0;
  Admitted admitted;
  if (listener_->admission) {
    auto verdict = listener_->admission(request);
    if (auto* refused = std::get_if<Refused>(&verdict)) {
      payer_ = std::move(refused->agent_id);
      return refuse(std::move(refused->response)), false;
    }
    admitted = std::get<Admitted>(std::move(verdict));
  }
  if (!admitted.agent_id.empty()) {
    payer_ = admitted.agent_id;
    if (!place_->belongs_to(admitted.agent_id)) {
      return refuse(error_response(ErrorCode::kRateLimited,
                                   "This agent has more connections to the host than it may have, and none of them is "
                                   "idle. Send its requests over those that are open.")),
             false;
    }
    key_shown_ = true;
    request.memory = std::move(admitted.memory);
  }
  try {
    incoming_->accept(admitted.to_file);
  } catch (const Error& error) {
    return fail(503, error.what()), false;
  }
  if (incoming_->state() == IncomingRequest::State::kBody && incoming_->waits_for_continue()) {
    static constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
    stream_->write_all(interim, {}, [self = shared_from_this()](const error_code&) {});
  }
  return true;
}

/// Sets the time for what is still to come.
void HttpConnection::expect_more() {
  if (incoming_->state() == IncomingRequest::State::kHeader) {
    if (phase_ != Phase::kIdle || input_.empty()) return;
    // Of the first request, the connection's own time goes on.
    first_ ? void(phase_ = Phase::kHeader) : enter(Phase::kHeader, header_ms());
  } else {
    if (phase_ != Phase::kBody) {
      enter(Phase::kBody, listener_->limits.body_ms);
      body_began_ms_ = loop_.clock.boot_ms();
    }
    if (const auto allowed = incoming_->allowed_ms()) deadline_ms_ = body_began_ms_ + *allowed;
  }
}

void HttpConnection::handle() {
  head_only_ = incoming_->request().head_alone;
  old_version_ = incoming_->old_version();
  keep_alive_ = incoming_->keep_alive() && !loop_.stopping;
  auto request = incoming_->finish();
  request_bytes_ = request.body.size();
  incoming_.reset();
  first_ = false;
  phase_ = Phase::kHandling;
  place_->busy();
  under_way_ = {loop_.clock.boot_ms(), this};
  const auto pending = std::make_shared<PendingAnswer>(loop_.shared_from_this(), weak_from_this());
  // Not on the loop, where its thread is lent: nothing of the connection is touched.
  loop_.handle(under_way_, [listener = listener_, pending, request = std::move(request)]() mutable {
    try {
      listener->handler(std::move(request), [pending](ServerResponse response) { pending->give(std::move(response)); });
    } catch (const std::exception& error) {
      spdlog::error("a request could not be handled: {}", error.what());
      pending->give(error_response(ErrorCode::kInternal, "The host could not handle this request. Its log says more."));
    }
  });
}

/// The connection goes on only where nothing of the request is still to come.
void HttpConnection::refuse(ServerResponse response) {
  const bool whole = incoming_ && incoming_->state() == IncomingRequest::State::kHeaderRead && !incoming_->has_body();
  keep_alive_ = whole && incoming_->keep_alive();
  head_only_ = whole && incoming_->request().head_alone;
  old_version_ = whole && incoming_->old_version();
  incoming_.reset();
  first_ = false;
  if (place_) place_->waits();
  write_in_time(std::move(response), Go::kLater);  // among many refused at a time each comes in a step of its own
}

void HttpConnection::fail(int status, std::string_view message) {
  const auto type = status == 408   ? ErrorCode::kTimeout
                    : status == 503 ? ErrorCode::kServiceUnavailable
                                    : ErrorCode::kInvalidInput;
  auto response = error_response(status, type, message);  // `message` may be the request's own
  incoming_.reset();
  refuse(std::move(response));
}

}  // namespace krux
