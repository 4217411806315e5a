#include "host/gateway/cross_origin.hpp"

#include <algorithm>

namespace krux {
namespace {

/// What clients of the Model Context Protocol send, and what they read of an answer besides its body.
constexpr const char* kMethods = "GET, POST, DELETE";
constexpr const char* kSent =
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name";
constexpr const char* kRead = "Mcp-Session-Id, WWW-Authenticate, Retry-After";
/// How long a browser need not ask again; Chromium takes no more.
constexpr const char* kAskAgainS = "7200";

}  // namespace

bool CrossOrigin::allows(const ServerRequest& request) const {
  const auto origin = request.header("origin");
  return origin && std::find(origins_.begin(), origins_.end(), *origin) != origins_.end();
}

std::optional<ServerResponse> CrossOrigin::preflight(const ServerRequest& request) const {
  if (request.method != "OPTIONS" || !request.header("access-control-request-method") || !allows(request))
    return std::nullopt;
  ServerResponse response;
  response.status = 204;
  response.headers = {{"Access-Control-Allow-Methods", kMethods},
                      {"Access-Control-Allow-Headers", kSent},
                      {"Access-Control-Max-Age", kAskAgainS}};
  return response;
}

void CrossOrigin::let_read(const ServerRequest& request, ServerResponse& response) const {
  if (!allows_any()) return;
  response.headers.emplace_back("Vary", "Origin");
  if (!allows(request)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", std::string(*request.header("origin")));
  response.headers.emplace_back("Access-Control-Expose-Headers", kRead);
}

}  // namespace krux
