// Whether a request's head asks for a WebSocket as RFC 6455 wants it.
#pragma once

#include <optional>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

/// A GET that names the protocol, well or badly.
bool asks_for_web_socket(const ServerRequest& request);

/// What is wrong with the handshake of such a request.
std::optional<ServerResponse> why_no_web_socket(const ServerRequest& request);

/// Whether the client offers to speak that subprotocol.
bool offers_protocol(const ServerRequest& request, std::string_view protocol);

/// The answer to a request with a good handshake. `protocol`: one that was offered, or none.
ServerResponse accept_web_socket(const ServerRequest& request, std::string_view protocol,
                                 std::shared_ptr<SocketUser> user);

}  // namespace krux
