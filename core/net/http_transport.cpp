#include "core/net/http_transport.hpp"

#include <algorithm>
#include <set>

#include "core/net/exchange.hpp"
#include "core/net/request_head.hpp"

namespace krux {
namespace {

/// Binds a watch to a call's cancellation for as long as it lives.
class CancelLink {
 public:
  CancelLink(CallContextPtr call, const std::shared_ptr<Watch>& watch)
      : call_(std::move(call)), token_(call_->on_cancel([watch] { watch->interrupt(Watch::Ended::kCancelled); })) {}
  ~CancelLink() { call_->drop_on_cancel(token_); }
  CancelLink(const CancelLink&) = delete;
  CancelLink& operator=(const CancelLink&) = delete;

 private:
  CallContextPtr call_;
  std::uint64_t token_;
};

class SocketTransport final : public HttpTransport {
 public:
  explicit SocketTransport(TransportOptions options) : tools_(std::move(options)) {}

  HttpOutcome send(const CallContextPtr& call, const Url& url, const HttpRequest& request, const RequestSecret& secret,
                   HttpSink& sink) override;
  void stop() override;

 private:
  /// Keeps a watch where stop() finds it.
  class Registration {
   public:
    Registration(SocketTransport& transport, std::shared_ptr<Watch> watch);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    SocketTransport& transport_;
    std::shared_ptr<Watch> watch_;
  };

  ExchangeTools tools_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Watch>> running_;
  bool stopping_ = false;
};

SocketTransport::Registration::Registration(SocketTransport& transport, std::shared_ptr<Watch> watch)
    : transport_(transport), watch_(std::move(watch)) {
  const std::lock_guard lock(transport_.mutex_);
  transport_.running_.insert(watch_);
  if (transport_.stopping_) watch_->interrupt(Watch::Ended::kStopping);
}

SocketTransport::Registration::~Registration() {
  const std::lock_guard lock(transport_.mutex_);
  transport_.running_.erase(watch_);
}

HttpOutcome SocketTransport::send(const CallContextPtr& call, const Url& url, const HttpRequest& request,
                                  const RequestSecret& secret, HttpSink& sink) {
  if (auto problem = request_problem(request)) return {KRUX_INVALID, *problem, {}};
  if (!is_header_value(secret.value)) return {KRUX_INVALID, "the credential cannot stand in a header", {}};
  const auto timeout = request.timeout_ms > 0 ? request.timeout_ms : tools_.options.default_timeout_ms;
  const auto budget = std::min(timeout, call->left_ms());
  const auto watch = std::make_shared<Watch>(Watch::Instant::clock::now() + std::chrono::milliseconds(budget));
  const Registration registration(*this, watch);
  const CancelLink link(call, watch);
  return Exchange(tools_, call, request, url, secret, sink, watch, budget).run();
}

void SocketTransport::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& watch : running_) watch->interrupt(Watch::Ended::kStopping);
}

}  // namespace

std::shared_ptr<HttpTransport> make_http_transport(TransportOptions options) {
  return std::make_shared<SocketTransport>(std::move(options));
}

}  // namespace krux
