#include "host/gateway/foreign_requests.hpp"

#include <algorithm>

#include <string_view>

#include "core/definition/base_url.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

bool begins_with(std::string_view text, std::string_view begin) {
  return equal_ignoring_case(text.substr(0, begin.size()), begin);
}

/// "localhost", or "localhost:7700".
bool names_loopback(std::string_view host) {
  for (const std::string_view own : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!begins_with(host, own)) continue;
    const auto rest = host.substr(own.size());
    if (rest.empty() || (rest[0] == ':' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos))
      return true;
  }
  return false;
}

constexpr std::string_view kHttp = "http://", kHttps = "https://";

bool is_own_page(std::string_view page, std::string_view public_origin) {
  if (begins_with(page, kHttp) && names_loopback(page.substr(kHttp.size()))) return true;
  const auto scheme = public_origin.starts_with(kHttps) ? kHttps : kHttp;
  return begins_with(page, scheme) && named_host(page.substr(scheme.size()), public_origin) == NamedHost::kPublic;
}

}  // namespace

NamedHost named_host(std::string_view authority, std::string_view public_origin) {
  if (names_loopback(authority)) return NamedHost::kLoopback;
  if (public_origin.empty()) return NamedHost::kForeign;
  const bool https = public_origin.starts_with(kHttps);
  const auto own = public_origin.substr(https ? kHttps.size() : kHttp.size());
  const std::string_view default_port = https ? ":443" : ":80";
  if (authority.ends_with(default_port)) authority.remove_suffix(default_port.size());
  return equal_ignoring_case(authority, own) ? NamedHost::kPublic : NamedHost::kForeign;
}

bool is_of_this_machine(const ServerRequest& request) {
  const auto passes_on = [](std::string_view name) {
    return name == "forwarded" || name == "via" || name == "x-real-ip" || name.starts_with("x-forwarded") ||
           name.starts_with("x-envoy-") || name.starts_with("tailscale-") || name.ends_with("client-ip") ||
           name.ends_with("connecting-ip");
  };
  if (std::any_of(request.headers.begin(), request.headers.end(),
                  [&](const auto& one) { return passes_on(one.first); }))
    return false;
  return is_loopback(request.peer.address) && names_loopback(request.header("host").value_or(""));
}

std::optional<ServerResponse> refuse_foreign(const ServerRequest& request, bool loopback_only, WebPages served,
                                             std::string_view public_origin) {
  const auto origin = request.header("origin");
  if (origin && served == WebPages::kNone)
    return error_response(ErrorCode::kPolicyDenied, "Requests from web pages (with an Origin header) are refused.");
  if (origin && served == WebPages::kOwn && !is_own_page(*origin, public_origin))
    return error_response(ErrorCode::kPolicyDenied,
                          "Requests from web pages of other machines (by their Origin header) are refused.");
  const auto host = request.header("host");
  if (loopback_only && host && named_host(*host, public_origin) == NamedHost::kForeign) {
    return error_response(
        ErrorCode::kPolicyDenied,
        "This address serves its own machine: the Host header must be localhost, 127.0.0.1 or [::1].");
  }
  return std::nullopt;
}

}  // namespace krux
