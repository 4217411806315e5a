// Requests that no agent sends by himself: those of foreign web pages.
#pragma once

#include <optional>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

enum class WebPages {
  kNone,  ///< whatever has an Origin header is refused
  kOwn,   ///< but of this machine's pages (http://localhost, 127.0.0.1 or [::1], of any port), and of its public origin
  kAny    ///< what asks was looked at
};

enum class NamedHost {
  kForeign,
  kLoopback,  ///< localhost, 127.0.0.1 or [::1], with any port
  kPublic     ///< the host's own name beyond its machine
};

/// Whose an authority is, as the Host header has it: the one place that knows which are this host's. `public_origin` is
/// the one that the host is reached under, written as Url::origin() writes it; empty: there is none.
NamedHost named_host(std::string_view authority, std::string_view public_origin);

/// Why a request is no agent's, or nothing: it comes from a web page, or, where `loopback_only`, its Host header names
/// another machine, as that of a page whose name resolves to 127.0.0.1 does.
std::optional<ServerResponse> refuse_foreign(const ServerRequest& request, bool loopback_only,
                                             WebPages served = WebPages::kNone, std::string_view public_origin = {});

/// Whether who sent it is on this machine, as far as a request shows: it came over the loopback, under a name of it,
/// and nobody who passes requests on for others has said so.
bool is_of_this_machine(const ServerRequest& request);

}  // namespace krux
