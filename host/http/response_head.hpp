// The head of an answer, as it goes over the wire. Internal to the HTTP server.
#pragma once

#include <string>

#include "host/http/http_types.hpp"

namespace krux {

/// `old_version`: the client speaks HTTP/1.0, where a body that comes in parts ends with the connection.
std::string response_head(const ServerResponse& response, bool keep_alive, bool old_version);

}  // namespace krux
