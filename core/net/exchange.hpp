// One request and its answer over one connection after another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/answer_parser.hpp"
#include "core/net/connection_pool.hpp"
#include "core/net/http_transport.hpp"
#include "core/net/request_body.hpp"
#include "core/net/url.hpp"

namespace krux {

/// What all exchanges of a transport share; any thread.
struct ExchangeTools {
  explicit ExchangeTools(TransportOptions o);

  const TransportOptions options;
  const AddressPolicy policy;
  Network network;
  ConnectionPool pool;
  Resolver resolver;
};

/// Lives on the stack of the thread that called HttpTransport::send().
class Exchange {
 public:
  Exchange(ExchangeTools& tools, const CallContextPtr& call, const HttpRequest& request, const Url& url,
           const RequestSecret& secret, HttpSink& sink, std::shared_ptr<Watch> watch, std::int64_t budget_ms);

  HttpOutcome run();

 private:
  /// The outcome of a try; `nothing_came`: the connection broke before a byte of an answer.
  struct Try {
    HttpOutcome outcome;
    bool nothing_came = false;
  };
  Try attempt(std::unique_ptr<WireConnection> connection);
  std::optional<HttpOutcome> send_request(WireConnection& connection, bool& broken);
  Try read_answer(std::unique_ptr<WireConnection> connection, bool may_reuse);
  Try answered(AnswerParser& parser, AnswerParser::State state);

  HttpOutcome open(std::unique_ptr<WireConnection>& connection);
  HttpOutcome find_addresses(std::vector<IpAddress>& addresses);
  HttpOutcome connect_any(const std::vector<IpAddress>& addresses, std::unique_ptr<WireConnection>& connection);
  HttpOutcome ended(Watch::Ended why) const;
  HttpOutcome network_failure(std::string_view what, std::string_view why) const;

  ExchangeTools& tools_;
  const CallContextPtr& call_;
  const HttpRequest& request_;
  const Url& url_;
  const RequestSecret secret_;
  HttpSink& sink_;
  const std::shared_ptr<Watch> watch_;
  const std::int64_t budget_ms_;
};

}  // namespace krux
