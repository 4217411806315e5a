// Requests that no agent sends by himself: those of foreign web pages.
#pragma once

#include <optional>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

enum class WebPages {
  kNone,  ///< whatever has an Origin header is refused
  kOwn    ///< but of this machine's pages (http://localhost, 127.0.0.1 or [::1], of any port)
};

/// Why a request is no agent's, or nothing: it comes from a web page, or, where `loopback_only`, its Host header names
/// another machine, as that of a page whose name resolves to 127.0.0.1 does. `own`: a further Host that is this one's.
std::optional<ServerResponse> refuse_foreign(const ServerRequest& request, bool loopback_only,
                                             WebPages served = WebPages::kNone, std::string_view own = {});

}  // namespace krux
