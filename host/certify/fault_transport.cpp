#include "host/certify/fault_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "core/net/address.hpp"
#include "core/util/json.hpp"

namespace krux::certify {
namespace {

constexpr std::uint64_t kDefaultLimit = 64 << 20;
constexpr std::size_t kSlowPieces = 40;

bool is_loopback_url(const Url& url) {
  const auto address = url.host_is_address ? parse_ip(url.host) : std::nullopt;
  return address && is_loopback(*address);
}

/// Without what no longer fits a body that was changed.
HttpHeaders headers_for_changed(const HttpHeaders& headers) {
  auto out = headers;
  std::erase_if(out, [](const auto& header) {
    const std::string_view name = header.first;
    constexpr std::string_view length = "content-length";
    return name.size() == length.size() && std::equal(name.begin(), name.end(), length.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
           });
  });
  return out;
}

HttpOutcome broken(std::string_view what) {
  return {KRUX_NETWORK, fmt::format("the fake service {}", what), {}};
}

HttpOutcome stopped() {
  return {KRUX_CANCELLED, "the receiver of the answer stopped it", {}};
}

HttpOutcome give(HttpSink& sink, int status, const HttpHeaders& headers, std::string_view body) {
  return sink.head(status, headers) && (body.empty() || sink.body(body)) ? HttpOutcome{} : stopped();
}

HttpOutcome give_endless(HttpSink& sink, int status, const HttpHeaders& headers, std::uint64_t asked) {
  const auto most = asked > 0 ? asked : kDefaultLimit;
  if (!sink.head(status, headers) || !sink.body("{\"padding\":\"")) return stopped();
  const std::string part(1 << 20, 'x');
  for (std::uint64_t given = 0; given < most; given += part.size()) {
    if (!sink.body(part)) return stopped();
  }
  return {KRUX_UNAVAILABLE, fmt::format("the answer is larger than {} bytes", most), {}};
}

HttpOutcome give_slowly(HttpSink& sink, const HttpResponse& real) {
  const std::string_view body = real.text;
  if (!sink.head(real.status, real.headers)) return stopped();
  const auto piece = std::max<std::size_t>(1, body.size() / kSlowPieces);
  for (std::size_t at = 0; at < body.size(); at += piece) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!sink.body(body.substr(at, piece))) return stopped();
  }
  return {};
}

}  // namespace

bool is_server_error(Fault fault) {
  return fault == Fault::kServerError || fault == Fault::kUnavailable || fault == Fault::kBadGateway;
}

const char* in_words(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "nothing was wrong";
    case Fault::kAnswerLost:
      return "the request was delivered and its answer lost";
    case Fault::kNotSent:
      return "the connection broke before anything was sent";
    case Fault::kHang:
      return "the service did not answer, and had not got the request";
    case Fault::kHangAfter:
      return "the service got the request and did not answer";
    case Fault::kCutOff:
      return "the connection broke in the middle of the answer";
    case Fault::kRateLimited:
      return "the service answered 429 with Retry-After";
    case Fault::kServerError:
      return "the service answered 500";
    case Fault::kBadGateway:
      return "a gateway answered 502 after the service had got the request";
    case Fault::kUnavailable:
      return "the service answered 503";
    case Fault::kTokenRefused:
      return "the service answered 401";
    case Fault::kTruncated:
      return "the answer's body was cut in half";
    case Fault::kNotJson:
      return "the answer was a page of HTML with status 200";
    case Fault::kWrongTypes:
      return "every value in the answer had another type";
    case Fault::kWrongInside:
      return "the values below the answer's top level had other types";
    case Fault::kEmpty:
      return "the answer had an empty body";
    case Fault::kHuge:
      return "the answer did not end";
    case Fault::kSlow:
      return "the answer came in small pieces";
  }
  return "something was wrong";
}

void FaultTransport::arm(FaultPlan plan) {
  const std::lock_guard lock(mutex_);
  plan_ = plan;
  on_hang_ = nullptr;
  hostile_.reset();
  seen_.clear();
  ++round_;
}

void FaultTransport::make_hostile(std::set<std::string> searched, HostileText hostile) {
  arm({});
  const std::lock_guard lock(mutex_);
  hostile_ = hostile;
  searched_ = std::move(searched);
  hostile_place_.clear();
}

std::string FaultTransport::made_hostile() const {
  const std::lock_guard lock(mutex_);
  return hostile_place_;
}

std::string FaultTransport::as_shown(std::string_view body) {
  const std::lock_guard lock(mutex_);
  if (!hostile_) return std::string(body);
  if (hostile_place_.empty()) hostile_place_ = peoples_text(body, searched_);
  return hostile_place_.empty() ? std::string(body) : with_hostile_text(body, hostile_place_, *hostile_);
}

void FaultTransport::on_hang(std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  on_hang_ = std::move(hook);
}

std::vector<SeenRequest> FaultTransport::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

Fault FaultTransport::take(const HttpRequest& request, const Url& url, std::size_t& number) {
  const std::lock_guard lock(mutex_);
  const auto nth = seen_.size() + 1;
  const bool hit = nth >= plan_.at && (plan_.count == 0 || nth < plan_.at + plan_.count);
  const auto fault = hit ? plan_.fault : Fault::kNone;
  seen_.push_back({request.method, url.target(), request.safe(), false, 0, fault});
  number = seen_.size() - 1;
  return fault;
}

void FaultTransport::note(std::size_t number, bool delivered, int status) {
  const std::lock_guard lock(mutex_);
  if (number >= seen_.size()) return;  // of an earlier round: its call was abandoned
  seen_[number].delivered = delivered;
  seen_[number].status = status;
}

HttpOutcome FaultTransport::send(const CallContextPtr& call, const Url& url, const HttpRequest& request,
                                 const RequestSecret& secret, HttpSink& sink) {
  std::size_t number = 0;
  const auto fault = take(request, url, number);
  if (!is_loopback_url(url)) return broken("is the only one that is reached here, and this is another host");
  if (!request.safe()) {
    if (!call->begin_unsafe_request()) return {KRUX_CANCELLED, "the call has ended; nothing was sent", {}};
    call->request_answered();
  }
  if (fault == Fault::kHang) return hang(call);
  if (fault == Fault::kNotSent) return broken("could not be reached");
  const bool kept = fault == Fault::kRateLimited || fault == Fault::kServerError || fault == Fault::kUnavailable ||
                    fault == Fault::kTokenRefused;
  if (kept) return undelivered(fault, number, sink);
  HttpResponse answer;
  auto outcome = deliver(call, url, request, secret, answer);
  note(number, true, outcome.status == KRUX_OK ? answer.status : 0);
  if (outcome.status != KRUX_OK) return outcome;
  if (fault == Fault::kHangAfter) return hang(call);
  if (fault == Fault::kAnswerLost) return broken("broke off the connection");
  return show(fault, number, request, answer, sink);
}

/// Until the call is cancelled or its deadline has come.
HttpOutcome FaultTransport::hang(const CallContextPtr& call) {
  std::function<void()> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = on_hang_;
  }
  if (hook) hook();
  std::mutex mutex;
  std::condition_variable changed;
  bool cancelled = false;
  const auto token = call->on_cancel([&] {
    const std::lock_guard lock(mutex);
    cancelled = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(call->left_ms()), [&] { return cancelled; });
  }
  call->drop_on_cancel(token);
  if (cancelled) return {KRUX_CANCELLED, "the call was cancelled", {}};
  return {KRUX_TIMEOUT, "the call's time is over", {}};
}

/// By a call of its own, so that what is on the wire does not count as the adapter's.
HttpOutcome FaultTransport::deliver(const CallContextPtr& call, const Url& url, const HttpRequest& request,
                                    const RequestSecret& secret, HttpResponse& answer) {
  const auto own = std::make_shared<CallContext>(call->owner(), call->clock(), call->deadline_boot_ms());
  const auto token = call->on_cancel([own] { own->cancel(); });
  auto outcome = inner_->send(own, url, request, secret, answer);
  call->drop_on_cancel(token);
  return outcome;
}

HttpOutcome FaultTransport::undelivered(Fault fault, std::size_t number, HttpSink& sink) {
  const int status = fault == Fault::kRateLimited    ? 429
                     : fault == Fault::kServerError  ? 500
                     : fault == Fault::kTokenRefused ? 401
                                                     : 503;
  note(number, false, status);
  HttpHeaders headers{{"Content-Type", "application/json"}};
  if (status == 429) headers.emplace_back("Retry-After", std::to_string(kRetryAfterSeconds));
  // Services do echo what they were sent.
  const auto body = fmt::format(R"({{"error":"fault {}","request":{{"authorization":{}}}}})", status,
                                json_string("Bearer " + token_));
  return give(sink, status, headers, body);
}

HttpOutcome FaultTransport::show(Fault fault, std::size_t number, const HttpRequest& request, const HttpResponse& real,
                                 HttpSink& sink) {
  const auto headers = headers_for_changed(real.headers);
  const std::string_view body = real.text;
  switch (fault) {
    case Fault::kCutOff:
      give(sink, real.status, real.headers, body.substr(0, body.size() / 2));
      return broken("broke off the connection in the middle of its answer");
    case Fault::kBadGateway:
      note(number, true, 502);
      return give(sink, 502, {{"Content-Type", "text/html"}}, "<html>Bad gateway</html>");
    case Fault::kTruncated:
      return give(sink, real.status, headers, body.substr(0, body.size() / 2));
    case Fault::kNotJson:
      return give(sink, 200, {{"Content-Type", "text/html"}},
                  "<html><body>Please log in. Authorization: Bearer " + token_ + "</body></html>");
    case Fault::kWrongTypes:
    case Fault::kWrongInside:
      return give(sink, real.status, headers, with_wrong_types(body, fault == Fault::kWrongInside));
    case Fault::kEmpty:
      return give(sink, real.status, headers, "");
    case Fault::kHuge:
      return give_endless(sink, real.status, headers, request.max_response_bytes);
    case Fault::kSlow:
      return give_slowly(sink, real);
    default:
      return give(sink, real.status, headers, as_shown(body));
  }
}

}  // namespace krux::certify
