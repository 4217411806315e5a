#include "host/gateway/foreign_requests.hpp"

#include <string_view>

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

bool is_own_page(std::string_view origin) {
  constexpr std::string_view scheme = "http://";
  return begins_with(origin, scheme) && names_loopback(origin.substr(scheme.size()));
}

}  // namespace

std::optional<ServerResponse> refuse_foreign(const ServerRequest& request, bool loopback_only, WebPages served,
                                             std::string_view own) {
  const auto origin = request.header("origin");
  if (origin && served == WebPages::kNone)
    return error_response(ErrorCode::kPolicyDenied, "Requests from web pages (with an Origin header) are refused.");
  if (origin && !is_own_page(*origin))
    return error_response(ErrorCode::kPolicyDenied,
                          "Requests from web pages of other machines (by their Origin header) are refused.");
  const auto host = request.header("host");
  const bool is_own = host && !own.empty() && equal_ignoring_case(*host, own);
  if (loopback_only && host && !is_own && !names_loopback(*host)) {
    return error_response(
        ErrorCode::kPolicyDenied,
        "This address serves its own machine: the Host header must be localhost, 127.0.0.1 or [::1].");
  }
  return std::nullopt;
}

}  // namespace krux
