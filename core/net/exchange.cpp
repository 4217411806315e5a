#include "core/net/exchange.hpp"

#include <fmt/format.h>

#include <array>

#include "core/net/request_head.hpp"

namespace krux {
namespace {

constexpr std::size_t kReadBytes = 32 * 1024;
/// A body up to this size travels together with its head.
constexpr std::size_t kTogetherBytes = 16 * 1024;

}  // namespace

ExchangeTools::ExchangeTools(TransportOptions o)
    : options(std::move(o)),
      policy(options.allowed_networks),
      network(options.extra_ca_file),
      pool(std::chrono::milliseconds(options.idle_ms)),
      resolver(options.resolve) {}

Exchange::Exchange(ExchangeTools& tools, const CallContextPtr& call, const HttpRequest& request, const Url& url,
                   const RequestSecret& secret, HttpSink& sink, std::shared_ptr<Watch> watch, std::int64_t budget_ms)
    : tools_(tools),
      call_(call),
      request_(request),
      url_(url),
      secret_(secret),
      sink_(sink),
      watch_(std::move(watch)),
      budget_ms_(budget_ms) {}

HttpOutcome Exchange::run() {
  if (const auto state = watch_->state(); state != Watch::Ended::kDone) return ended(state);
  const auto max_idle = request_.safe() ? tools_.options.idle_ms : tools_.options.idle_unsafe_ms;
  if (auto pooled = tools_.pool.take(url_.origin(), std::chrono::milliseconds(max_idle))) {
    auto first = attempt(std::move(pooled));
    // The service may have closed the idle connection while the request was on its way. Only what has no effect is
    // repeated, and only where its body is still there.
    if (!first.nothing_came || !request_.safe() || request_.body_source) return first.outcome;
  }
  std::unique_ptr<WireConnection> connection;
  auto opened = open(connection);
  if (opened.status != KRUX_OK) return opened;
  return attempt(std::move(connection)).outcome;
}

Exchange::Try Exchange::attempt(std::unique_ptr<WireConnection> connection) {
  bool broken = false;
  if (auto failed = send_request(*connection, broken)) return {*failed, false};
  // The service may have answered before it had read everything: what it said counts, the connection is done with.
  return read_answer(std::move(connection), !broken);
}

std::optional<HttpOutcome> Exchange::send_request(WireConnection& connection, bool& broken) {
  RequestBody body(request_);
  std::string_view part;
  const HttpOutcome bad_source{KRUX_INTERNAL, "the request's body could not be read to its announced length", {}};
  if (!body.next(part)) return bad_source;
  auto first = request_head(request_, url_, secret_, tools_.options.user_agent);
  if (part.size() <= kTogetherBytes) {
    append(first, part);
    part = {};
  }
  if (const auto state = watch_->state(); state != Watch::Ended::kDone) return ended(state);
  // From here on the effect may happen: nothing may stand between this and the first byte.
  const bool allowed = request_.safe() ? !call_->ended() : call_->begin_unsafe_request();
  if (!allowed) return ended(Watch::Ended::kCancelled);
  auto sent = connection.write(as_view(first), *watch_);
  first = SecretBytes();
  while (sent.ok()) {
    if (part.empty() && !body.next(part)) return bad_source;
    if (part.empty()) return std::nullopt;
    sent = connection.write(part, *watch_);
    part = {};
  }
  if (sent.ended != Watch::Ended::kDone) return ended(sent.ended);
  broken = true;
  return std::nullopt;
}

Exchange::Try Exchange::read_answer(std::unique_ptr<WireConnection> connection, bool may_reuse) {
  const auto& options = tools_.options;
  const auto most = request_.max_response_bytes > 0 ? request_.max_response_bytes : options.default_max_response_bytes;
  AnswerParser parser(request_.method == "HEAD", {options.max_header_bytes, most}, sink_);
  const auto buffer = std::make_unique<std::array<char, kReadBytes>>();
  auto state = AnswerParser::State::kMore;
  while (state == AnswerParser::State::kMore) {
    const auto got = connection->read(buffer->data(), buffer->size(), *watch_);
    if (got.ended != Watch::Ended::kDone) return {ended(got.ended), false};
    if (!got.error.empty()) return {network_failure("broke off the connection", got.error), !parser.got_some()};
    state = got.eof ? parser.end() : parser.feed({buffer->data(), got.bytes});
  }
  auto result = answered(parser, state);
  if (result.outcome.status == KRUX_OK && may_reuse && parser.reusable()) {
    tools_.pool.put(url_.origin(), std::move(connection));
  }
  return result;
}

Exchange::Try Exchange::answered(AnswerParser& parser, AnswerParser::State state) {
  switch (state) {
    case AnswerParser::State::kDone:
      if (!request_.safe() && parser.status() < 500) call_->request_answered();
      return {};
    case AnswerParser::State::kStopped:
      return {{KRUX_CANCELLED, "the receiver of the answer stopped it", {}}, false};
    case AnswerParser::State::kTooLarge:
      return {{KRUX_UNAVAILABLE, fmt::format("{}: {}", url_.authority(), parser.problem()), {}}, false};
    default:
      return {network_failure("did not answer properly", parser.problem()), !parser.got_some()};
  }
}

HttpOutcome Exchange::open(std::unique_ptr<WireConnection>& connection) {
  std::vector<IpAddress> addresses;
  auto outcome = find_addresses(addresses);
  if (outcome.status == KRUX_OK) outcome = connect_any(addresses, connection);
  if (outcome.status != KRUX_OK || url_.scheme != "https") return outcome;
  const auto secured = connection->secure(url_.host, url_.host_is_address, *watch_);
  if (secured.ended != Watch::Ended::kDone) return ended(secured.ended);
  if (!secured.ok()) return network_failure("could not be verified by TLS, nothing was sent", secured.error);
  return {};
}

HttpOutcome Exchange::find_addresses(std::vector<IpAddress>& addresses) {
  if (url_.host_is_address) {
    const auto address = parse_ip(url_.host);
    if (is_loopback(*address) || tools_.policy.allows(*address)) {
      addresses.push_back(*address);
      return {};
    }
    return {KRUX_INVALID,
            fmt::format("{} is not a public address; an operator may list it among the allowed networks", url_.host),
            {}};
  }
  struct Lookup {
    bool done = false;
    Resolution result;
  };
  const auto lookup = std::make_shared<Lookup>();
  tools_.resolver.start(url_.host, [lookup, watch = watch_](Resolution r) {
    watch->complete([&] {
      lookup->result = std::move(r);
      lookup->done = true;
    });
  });
  if (const auto end = watch_->wait(lookup->done, watch_->deadline()); end != Watch::Ended::kDone) return ended(end);
  const auto& result = lookup->result;
  if (result.addresses.empty()) return network_failure("has no address", result.error);
  for (const auto& address : result.addresses) {
    if (tools_.policy.allows(address)) addresses.push_back(address);
  }
  if (!addresses.empty()) return {};
  return network_failure("was not connected to",
                         "its name leads to a private address; an operator may list it among the "
                         "allowed networks");
}

HttpOutcome Exchange::connect_any(const std::vector<IpAddress>& addresses,
                                  std::unique_ptr<WireConnection>& connection) {
  std::string error;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // An address that swallows everything must leave time for the next.
    const auto now = Watch::Instant::clock::now();
    const auto share = (watch_->deadline() - now) / static_cast<std::int64_t>(addresses.size() - i);
    connection = std::make_unique<WireConnection>(tools_.network);
    const auto connected = connection->connect(addresses[i], url_.port, *watch_, now + share);
    if (connected.ok()) return {};
    if (connected.ended != Watch::Ended::kDone) return ended(connected.ended);
    error = connected.error;
  }
  return network_failure("could not be reached", error);
}

HttpOutcome Exchange::ended(Watch::Ended why) const {
  if (why == Watch::Ended::kStopping) return {KRUX_UNAVAILABLE, "the host is stopping", {}};
  if (call_->left_ms() == 0) return {KRUX_TIMEOUT, "the call's time is over", {}};
  if (why == Watch::Ended::kDeadline) {
    return {KRUX_TIMEOUT, fmt::format("{} did not answer within {} ms", url_.authority(), budget_ms_), {}};
  }
  return {KRUX_CANCELLED, "the call was cancelled", {}};
}

HttpOutcome Exchange::network_failure(std::string_view what, std::string_view why) const {
  return {KRUX_NETWORK, fmt::format("{} {}: {}", url_.authority(), what, why), {}};
}

}  // namespace krux
