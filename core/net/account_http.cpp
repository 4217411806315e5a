#include "core/net/account_http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/adapter/cancel_wake.hpp"
#include "core/net/graphql.hpp"
#include "core/net/request_head.hpp"
#include "core/net/retry_after.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

Url configured_base(const std::string& text) {
  try {
    return parse_base_url(text);
  } catch (const Error& e) {
    throw ConfigError(fmt::format("api_base_url '{}': {}", text, e.what()));
  }
}

/// The value of `name` in "a=1&b=2".
std::optional<std::string> form_value(std::string_view form, std::string_view name) {
  while (!form.empty()) {
    const auto pair = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(pair.size() + 1, form.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    if (percent_decode(pair.substr(0, equals), true) != name) continue;
    return percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
  }
  return std::nullopt;
}

/// What every server reads as the same JSON: of another character set the same bytes may say something else.
bool is_plain_json(const HttpRequest& request) {
  const auto type = find_header(request.headers, "Content-Type");
  if (!type || request.body_source) return false;
  std::string folded;
  for (const char c : *type) {
    if (c != ' ') folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded == "application/json" || folded == "application/json;charset=utf-8";
}

bool is_of_type(const HttpRequest& request, std::string_view wanted) {
  const auto type = find_header(request.headers, "Content-Type");
  if (!type || request.body_source) return false;
  std::string folded(type->substr(0, type->find(';')));
  std::transform(folded.begin(), folded.end(), folded.begin(), [](unsigned char c) { return std::tolower(c); });
  return folded.substr(0, folded.find(' ')) == wanted;
}

Quota::Parameters parameters_of(const HttpRequest& request, const Url& url) {
  return [&](const std::string& name) -> std::optional<std::string> {
    if (is_of_type(request, "application/x-www-form-urlencoded")) {
      if (auto value = form_value(request.body, name)) return value;
    }
    return url.query.empty() ? std::nullopt : form_value(std::string_view(url.query).substr(1), name);
  };
}

/// Notes what the host must know of an answer on its way to the receiver.
class NotingSink final : public HttpSink {
 public:
  NotingSink(HttpSink& receiver, RequestRecord& record) : receiver_(receiver), record_(record) {}

  bool head(int status, const HttpHeaders& headers) override {
    record_.status = status;
    if (const auto value = find_header(headers, "Retry-After")) retry_after_ = *value;
    return receiver_.head(status, headers);
  }
  bool body(std::string_view bytes) override {
    record_.bytes += bytes.size();
    return receiver_.body(bytes);
  }
  /// Where the service refused the request for now.
  std::optional<std::int64_t> retry_after_ms(std::int64_t wall_ms) const {
    if (record_.status != 429 && record_.status != 503) return std::nullopt;
    return parse_retry_after(retry_after_, wall_ms);
  }

 private:
  HttpSink& receiver_;
  RequestRecord& record_;
  std::string retry_after_;
};

/// Keeps a 401 to itself until it is known whether it is the answer.
class HoldingSink final : public HttpSink {
 public:
  HoldingSink(HttpSink& receiver, bool carries_token) : receiver_(receiver), carries_token_(carries_token) {}

  bool head(int status, const HttpHeaders& headers) override {
    refused_ = status == 401 && carries_token_;
    if (!refused_) return receiver_.head(status, headers);
    headers_ = headers;
    return true;
  }
  bool body(std::string_view bytes) override {
    if (!refused_) return receiver_.body(bytes);
    // Errors are short; what comes behind the bound nobody reads.
    body_ += bytes.substr(0, kMostHeld - std::min(kMostHeld, body_.size()));
    return true;
  }
  bool refused() const { return refused_; }
  /// It is the answer.
  HttpOutcome give_up(HttpOutcome outcome) {
    if (!refused_) return outcome;
    const bool taken = receiver_.head(401, headers_) && (body_.empty() || receiver_.body(body_));
    if (taken || outcome.status != KRUX_OK) return outcome;
    return {KRUX_CANCELLED, "the receiver of the answer said stop", {}};
  }

 private:
  static constexpr std::size_t kMostHeld = 64 << 10;
  HttpSink& receiver_;
  const bool carries_token_;
  bool refused_ = false;
  HttpHeaders headers_;
  std::string body_;
};

/// Why a call of that kind does not send the request.
std::optional<std::string> not_for(Sends sends, const HttpRequest& request) {
  if (sends == Sends::kNothing)
    return "a read answers from the replica and sends nothing, unless its definition says `fetches`";
  if (sends == Sends::kSafe && !request.safe())
    return "a read that fetches sends GET, HEAD and OPTIONS alone, and POSTs that its definition's `http` section "
           "names";
  return std::nullopt;
}

/// One exchange; an answer does not bring back what its request carried.
HttpOutcome transmit(HttpTransport& transport, const CallContextPtr& call, const Url& url, const HttpRequest& request,
                     const Authorization& carried, std::string_view token, HttpSink& sink) {
  const Away away(*call, CallAway::kAtService);
  if (token.empty()) return transport.send(call, url, request, carried.secret(), sink);
  KeyRemovingSink cleaned(sink, carried, token);
  auto outcome = transport.send(call, url, request, carried.secret(), cleaned);
  if (outcome.status == KRUX_OK && !cleaned.finish())
    return {KRUX_CANCELLED, "the receiver of the answer said stop", {}};
  return outcome;
}

HttpOutcome over(const CallContext& call) {
  if (!call.ended() && call.left_ms() == 0) return {KRUX_TIMEOUT, "the call's time is over", {}};
  return {KRUX_CANCELLED, "the call was cancelled or has ended; nothing was sent", {}};
}

}  // namespace

AccountHttp::AccountHttp(AccountHttpOptions options, std::shared_ptr<HttpTransport> transport, Clock& clock,
                         AccountHooks hooks)
    : options_(std::move(options)),
      base_(configured_base(options_.api_base_url)),
      transport_(std::move(transport)),
      clock_(clock),
      hooks_(std::move(hooks)),
      quota_(options_.quota, clock) {
  for (const auto& host : options_.hosts) hosts_.push_back(parse_host(host));
}

AccountHttp::Host AccountHttp::parse_host(const std::string& text) {
  const bool subdomains = text.starts_with("*.");
  try {
    const auto url = parse_url("https://" + text.substr(subdomains ? 2 : 0));
    if (url.target() == "/" && !text.ends_with('/') && !(subdomains && url.host_is_address)) {
      return {(subdomains ? "." : "") + url.host, url.port, subdomains};
    }
  } catch (const Error&) {
  }
  throw ConfigError(fmt::format("'{}' is not a host; write for example files.example.com or *.example.com", text));
}

bool AccountHttp::allowed(const Url& url) const {
  if (url.origin() == base_.origin()) return true;
  return url.scheme == "https" && std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
           if (url.port != host.port) return false;
           return host.subdomains ? url.host.ends_with(host.name) : url.host == host.name;
         });
}

HttpOutcome AccountHttp::send(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink) {
  const auto started = clock_.boot_ms();
  RequestRecord record;
  record.method = request.method;
  auto outcome = send_to(call, request, sink, record);
  record.ms = clock_.boot_ms() - started;
  record.outcome = outcome.status;
  if (hooks_.observe) hooks_.observe(record);
  return outcome;
}

HttpOutcome AccountHttp::send_to(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink,
                                 RequestRecord& record) {
  Url url;
  try {
    url = resolve_url(base_, request.url);
  } catch (const Error& e) {
    return {KRUX_INVALID, e.what(), {}};
  }
  if (!allowed(url)) {
    return {KRUX_INVALID,
            fmt::format("{} is not among the hosts that {} may speak to", url.authority(), options_.service),
            {}};
  }
  if (auto problem = request_problem(request)) return {KRUX_INVALID, *problem, {}};
  if (auto problem = why_not_own_credential(options_.auth, request.headers, url); !problem.empty())
    return {KRUX_INVALID, std::move(problem), {}};
  if (auto problem = why_not_read(url, request); !problem.empty()) return {KRUX_INVALID, std::move(problem), {}};
  if (auto problem = not_for(call->owner().sends, request)) return {KRUX_INVALID, *problem, {}};
  record.path = path_below(base_, url);
  if (call->ended() || call->cancelled()) return over(*call);
  const auto parameters = parameters_of(request, url);
  const auto asked = clock_.boot_ms();
  auto room = await_quota(call, record.path, parameters);
  record.quota_wait_ms = clock_.boot_ms() - asked;
  if (room.status != KRUX_OK) return room;

  NotingSink noting(sink, record);
  bool refused = false;
  auto outcome = send_authorized(call, url, request, noting, &refused);
  if (const auto wait = noting.retry_after_ms(clock_.wall_ms())) {
    outcome.retry_after_ms = wait;
    quota_.block(record.path, parameters, *wait);
  }
  if (refused && hooks_.on_unauthorized) hooks_.on_unauthorized();
  return outcome;
}

/// `refused`: the answer that the sink has got is the service's 401 to a request with the token.
HttpOutcome AccountHttp::send_authorized(const CallContextPtr& call, const Url& url, const HttpRequest& request,
                                         HttpSink& sink, bool* refused) {
  Authorization carried;
  SecretBytes used;
  if (auto ready = authorize(call, url, carried, used); ready.status != KRUX_OK) return ready;
  call->note_request();
  HoldingSink holding(sink, !carried.value.empty());
  auto outcome = transmit(*transport_, call, url, request, carried, as_view(used), holding);
  if (!holding.refused()) return outcome;
  *refused = true;
  if (outcome.status == KRUX_OK && hooks_.renew) {
    const Away away(*call, CallAway::kAtService);
    auto renewed = hooks_.renew(call, as_view(used));
    const bool repeatable = request.safe() && !request.body_source;
    if (repeatable && renewed.status == KRUX_OK) {
      *refused = false;
      if (auto ready = authorize(call, url, carried, used); ready.status != KRUX_OK) return ready;
      HoldingSink again(sink, true);
      outcome = transmit(*transport_, call, url, request, carried, as_view(used), again);
      *refused = again.refused();
      return again.give_up(std::move(outcome));
    }
    // To be had later, so that the adapter need not hear of a token that is refused.
    if (repeatable && renewed.status != KRUX_AUTH) {
      *refused = false;
      return renewed;
    }
  }
  return holding.give_up(std::move(outcome));
}

std::int64_t AccountHttp::patience_of(const CallContext& call) const {
  const auto& owner = call.owner();
  auto patience = owner.write_id.empty() ? options_.quota_wait_ms : options_.write_quota_wait_ms;
  if (owner.sends == Sends::kSafe) patience = options_.read_quota_wait_ms;
  return std::min(patience, call.left_ms());
}

HttpOutcome AccountHttp::await_quota(const CallContextPtr& call, const std::string& path,
                                     const Quota::Parameters& parameters) {
  const auto give_up = clock_.boot_ms() + patience_of(*call);
  std::optional<Away> waits;
  const CancelWake wake(call, waiting_mutex_, waiting_);
  while (true) {
    if (call->ended() || call->cancelled()) return over(*call);
    const auto wait = quota_.try_acquire(path, parameters);
    if (wait == 0) return {};
    const auto now = clock_.boot_ms();
    if (now + wait > give_up) {
      return {KRUX_RATE_LIMITED,
              fmt::format("the quota of {} allows this request in {} s; nothing was sent", options_.service,
                          (wait + 999) / 1000),
              wait};
    }
    if (!waits) waits.emplace(*call, CallAway::kAwaitsQuota);
    std::unique_lock lock(waiting_mutex_);
    clock_.wait_until(lock, waiting_, now + wait, [&] { return call->cancelled(); });
  }
}

/// Of a POST that the adapter says only reads. Empty: it does, as far as the definition and the host can tell.
std::string AccountHttp::why_not_read(const Url& url, const HttpRequest& request) const {
  if (!request.only_reads) return {};
  if (request.method != "POST") return "only a POST is marked as one that reads; other methods say it themselves";
  const auto path = path_below(base_, url);
  const auto permitted = std::find_if(options_.safe_posts.begin(), options_.safe_posts.end(),
                                      [&](const SafePost& post) { return glob_match(post.path, path); });
  if (url.origin() != base_.origin() || permitted == options_.safe_posts.end())
    return fmt::format("the definition of {} names no POST to this path that only reads", options_.service);
  // A server may decode or cut it and come to another path.
  if (path.find_first_of("%;") != std::string::npos || !url.path.starts_with(base_.path))
    return "the path of a POST that only reads stands below the base address and has neither '%' nor ';'";
  if (!permitted->graphql) return {};
  if (!url.query.empty() || !is_plain_json(request))
    return "a GraphQL request that reads has its whole document in a body of type application/json, in UTF-8";
  const auto why = why_not_graphql_query(request.body);
  return why.empty() ? why : "the request is not known to read: " + why;
}

HttpOutcome AccountHttp::authorize(const CallContextPtr& call, const Url& url, Authorization& carried,
                                   SecretBytes& used) const {
  carried = {};
  if (!hooks_.token) return {};
  HttpOutcome none{
      KRUX_AUTH, fmt::format("the account of {0} is not connected: run `kruxos connect {0}`", options_.service), {}};
  if (hooks_.ensure) {
    if (auto ready = hooks_.ensure(call); ready.status != KRUX_OK) return ready;
  }
  auto token = hooks_.token();
  if (!token || token->value.empty()) return none;
  try {
    if (parse_url(token->origin).origin() != url.origin()) return {};
  } catch (const Error&) {
    return none;
  }
  auto made = authorization_of(options_.auth, options_.auth_user, as_view(token->value));
  if (!made) return none;
  carried = *std::move(made);
  used = std::move(token->value);
  return {};
}

}  // namespace krux
