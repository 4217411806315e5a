// What an adapter is lent as its HTTP client: one account's way to its service.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/definition/access.hpp"
#include "core/net/authorization.hpp"
#include "core/net/http_transport.hpp"
#include "core/net/quota.hpp"
#include "core/net/secret.hpp"
#include "core/net/url.hpp"

namespace krux {

/// A credential, and the only origin that it may be sent to ("https://notes.example", as Url::origin() writes it, or
/// any URL of that origin).
struct BoundToken {
  SecretBytes value;
  std::string origin;
};

/// One request for logs and metrics: never a query, a header or a body. `path` is empty when the address was refused.
struct RequestRecord {
  std::string method, path;
  int status = 0;                  ///< 0: no answer
  std::int64_t ms = 0;             ///< in all
  std::int64_t quota_wait_ms = 0;  ///< of these: until the quota had room
  std::uint64_t bytes = 0;         ///< of the answer's body
  krux_status outcome = KRUX_OK;
};

/// All are called on the thread of send(), several at a time, and must not throw.
struct AccountHooks {
  /// The account's token now; nothing while it is not connected. Left empty, the service needs none.
  std::function<std::optional<BoundToken>()> token;
  /// Before a request takes the token: waits for a new one where it has ended. Anything but KRUX_OK is the request's
  /// outcome. May be empty.
  std::function<HttpOutcome(const CallContextPtr&)> ensure;
  /// The service answered 401 to a request that carried `used`. KRUX_OK: there is another token now. May be empty.
  std::function<HttpOutcome(const CallContextPtr&, std::string_view used)> renew;
  /// The service answered 401 to a request that carried the token, and that is the request's answer.
  std::function<void()> on_unauthorized;
  std::function<void(const RequestRecord&)> observe;
};

struct AccountHttpOptions {
  std::string service;       ///< for sentences
  std::string api_base_url;  ///< what relative addresses are relative to
  std::vector<std::string>
      hosts;  ///< besides it, https: "files.notes.example", "*.notes.example" (subdomains alone), "host:8443"
  std::vector<QuotaRule> quota;
  AuthDefinition auth;    ///< how a request carries the token
  std::string auth_user;  ///< of AuthDefinition::user
  std::vector<SafePost> safe_posts;
  /// How long send() may wait for the quota before it answers KRUX_RATE_LIMITED. Whoever waits tells its call
  /// (CallAway::kAwaitsQuota).
  std::int64_t quota_wait_ms = 2000;
  /// The same for a read that fetches: an agent waits for it, and it takes nobody's place meanwhile.
  std::int64_t read_quota_wait_ms = 30'000;
  /// The same for calls that belong to a write: a sync comes back soon, but a write would wait for its next try, and
  /// somebody waits for it.
  std::int64_t write_quota_wait_ms = 20'000;
};

/// Any thread. Outcomes as in kruxos/abi/http.h. A safe request whose token was refused is sent once more where another
/// token can be had; an unsafe one never is. The clock must outlive it.
class AccountHttp final : public HttpClient {
 public:
  /// Throws ConfigError for options that make no sense.
  AccountHttp(AccountHttpOptions options, std::shared_ptr<HttpTransport> transport, Clock& clock, AccountHooks hooks);

  HttpOutcome send(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink) override;

  std::map<std::string, double> quota_left() { return quota_.left(); }

 private:
  struct Host {
    std::string name;  ///< lower case, without the "*"
    std::uint16_t port;
    bool subdomains;
  };
  static Host parse_host(const std::string& text);
  bool allowed(const Url& url) const;
  HttpOutcome send_to(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink, RequestRecord& record);
  HttpOutcome send_authorized(const CallContextPtr& call, const Url& url, const HttpRequest& request, HttpSink& sink,
                              bool* refused);
  std::int64_t patience_of(const CallContext& call) const;
  HttpOutcome await_quota(const CallContextPtr& call, const std::string& path, const Quota::Parameters& parameters);
  std::string why_not_read(const Url& url, const HttpRequest& request) const;
  /// What `url` is given of the token, nothing where it does not belong, and the token in it.
  HttpOutcome authorize(const CallContextPtr& call, const Url& url, Authorization& carried, SecretBytes& used) const;

  const AccountHttpOptions options_;
  const Url base_;
  std::vector<Host> hosts_;
  const std::shared_ptr<HttpTransport> transport_;
  Clock& clock_;
  const AccountHooks hooks_;
  Quota quota_;
  std::mutex waiting_mutex_;
  std::condition_variable waiting_;  ///< of those who wait for the quota
};

}  // namespace krux
