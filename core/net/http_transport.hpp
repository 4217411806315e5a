// HTTP over real sockets, for everything that the host sends out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/authorization.hpp"
#include "core/net/http.hpp"
#include "core/net/resolver.hpp"
#include "core/net/url.hpp"

namespace krux {

/// Carries single requests. It knows no account, quota or allow-list: see AccountHttp.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  /// Blocking, any thread; the sink and the body's source run on the calling one. Ends soon after the call is cancelled
  /// or its time is over. `url` comes from parse_url() or resolve_url(); `request.url` is not looked at.
  /// `secret` is copied into wiped memory alone.
  ///
  /// KRUX_INVALID: an address or a header that is not allowed. KRUX_CANCELLED: the call or the sink said stop.
  /// KRUX_UNAVAILABLE: too large an answer, or stop() was called. KRUX_INTERNAL: the body's source failed.
  virtual HttpOutcome send(const CallContextPtr& call, const Url& url, const HttpRequest& request,
                           const RequestSecret& secret, HttpSink& sink) = 0;

  /// Ends what is under way and refuses what comes later.
  virtual void stop() = 0;
};

struct TransportOptions {
  std::string extra_ca_file;  ///< PEM, trusted besides the system's authorities; empty: none
  std::vector<std::string>
      allowed_networks;  ///< addresses or networks that are not public and may be reached all the same
  std::string user_agent = "kruxos";
  ResolveFunction resolve = resolve_by_system;
  std::int64_t default_timeout_ms = 30'000;
  std::uint64_t default_max_response_bytes = 64 << 20;
  std::uint32_t max_header_bytes = 64 << 10;
  std::int64_t idle_ms = 30'000;        ///< how long an idle connection is kept for safe requests
  std::int64_t idle_unsafe_ms = 5'000;  ///< and how young it must be to carry an unsafe one
};

/// Sockets on one event loop thread. Plain http goes to literal loopback addresses alone; of a name's addresses, which
/// are looked up for every connection, only those are connected to that are public or listed. An unsafe request is
/// given to a socket at most once. Throws ConfigError for a bad option.
std::shared_ptr<HttpTransport> make_http_transport(TransportOptions options);

}  // namespace krux
