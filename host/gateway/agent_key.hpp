// The agent's key, or the access token of one who has signed in, that a request shows. Internal to the gateway.
#pragma once

#include <optional>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

/// Where else than in the header Authorization a request may have its key.
enum class KeyInAddress { kRefused, kTaken };

/// That of "Authorization: Bearer <64 hex>", or, where there is no such header and it may, of "?token=<64 hex>". An
/// access token is taken of the header alone. It points into the request.
std::optional<std::string_view> agent_key(const ServerRequest& request, KeyInAddress in_address);

}  // namespace krux
