// The host's HTTP transport with faults between the adapter and its fake service.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/net/http_transport.hpp"
#include "host/certify/spoiled_body.hpp"

namespace krux::certify {

enum class Fault {
  kNone,
  kAnswerLost,    ///< delivered, the connection breaks before the answer
  kNotSent,       ///< the connection breaks before anything is sent
  kHang,          ///< nothing is delivered, and nothing comes until the call ends
  kHangAfter,     ///< delivered, and nothing comes until the call ends
  kCutOff,        ///< delivered, the connection breaks in the middle of the answer
  kRateLimited,   ///< 429 with Retry-After
  kServerError,   ///< 500, not delivered
  kBadGateway,    ///< 502, delivered all the same
  kUnavailable,   ///< 503, not delivered
  kTokenRefused,  ///< 401
  kTruncated,     ///< delivered; a complete answer with half of its body
  kNotJson,       ///< delivered; a page of HTML with status 200
  kWrongTypes,    ///< delivered; every value of the JSON has another type
  kWrongInside,   ///< delivered; the same below the top level
  kEmpty,         ///< delivered; an empty body
  kHuge,          ///< delivered; JSON without an end
  kSlow,          ///< delivered; the whole answer in small pieces
};

/// The service answers that the trouble is its own.
bool is_server_error(Fault fault);

/// "the answer was lost", as part of a sentence.
const char* in_words(Fault fault);

/// Seconds of the Retry-After that goes with kRateLimited.
inline constexpr int kRetryAfterSeconds = 7;

/// Which requests are hit: number `at` (from 1) since arm(), and `count` - 1 behind it; 0: all behind it.
struct FaultPlan {
  Fault fault = Fault::kNone;
  std::size_t at = 1, count = 1;
};

struct SeenRequest {
  std::string method, target;
  bool safe = true;
  bool delivered = false;
  int status = 0;  ///< that the adapter was shown; 0: none
  Fault fault = Fault::kNone;
};

/// Any thread. Reaches the loopback alone. To the call that it serves, every request counts as answered: so the
/// adapter's own word about a failure is what comes back from it, which the checks compare with the service's.
class FaultTransport final : public HttpTransport {
 public:
  /// `token` is what a service might echo in a fault's body.
  FaultTransport(std::shared_ptr<HttpTransport> inner, std::string token)
      : inner_(std::move(inner)), token_(std::move(token)) {}

  HttpOutcome send(const CallContextPtr& call, const Url& url, const HttpRequest& request, const RequestSecret& secret,
                   HttpSink& sink) override;
  void stop() override { inner_->stop(); }

  /// Counts requests from here on.
  void arm(FaultPlan plan);
  void clear() { arm({}); }
  /// Until clear(): in every answer the first text that people wrote is a hostile one, the same in all of them.
  void make_hostile(std::set<std::string> searched, HostileText hostile);
  std::string made_hostile() const;  ///< which text; empty: there was none
  /// Runs on the adapter's thread when request number `at` is about to hang.
  void on_hang(std::function<void()> hook);

  std::vector<SeenRequest> seen() const;
  std::size_t count() const { return seen().size(); }

 private:
  Fault take(const HttpRequest& request, const Url& url, std::size_t& number);
  std::string as_shown(std::string_view body);
  void note(std::size_t number, bool delivered, int status);
  HttpOutcome hang(const CallContextPtr& call);
  HttpOutcome deliver(const CallContextPtr& call, const Url& url, const HttpRequest& request,
                      const RequestSecret& secret, HttpResponse& answer);
  HttpOutcome undelivered(Fault fault, std::size_t number, HttpSink& sink);
  HttpOutcome show(Fault fault, std::size_t number, const HttpRequest& request, const HttpResponse& real,
                   HttpSink& sink);

  const std::shared_ptr<HttpTransport> inner_;
  const std::string token_;
  mutable std::mutex mutex_;
  FaultPlan plan_;
  std::function<void()> on_hang_;
  std::optional<HostileText> hostile_;
  std::set<std::string> searched_;
  std::string hostile_place_;  ///< the text that becomes hostile
  std::vector<SeenRequest> seen_;
  std::uint64_t round_ = 0;
};

}  // namespace krux::certify
