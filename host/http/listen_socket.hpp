// Opening sockets to listen on. Each function returns a descriptor that the caller owns (non-blocking, close-on-exec)
// or throws krux::ConfigError with a sentence that says what to change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "host/http/http_types.hpp"

namespace krux {

/// `host` is a literal address or a name with one; port 0 takes a free one.
int listen_on_tcp(const std::string& host, std::uint16_t port);

/// Only its owner may connect: the file is made with mode 0600, there is no moment at which it is wider. A socket file
/// that a dead host left behind is replaced; anything else of that name is left alone and refused.
int listen_on_unix(const std::filesystem::path& path);

/// The port that a TCP socket is bound to.
std::uint16_t bound_port(int socket);
/// Whether it is bound to an address that only this machine can reach.
bool is_bound_to_loopback(int socket);

/// The other end of a connected socket.
Peer peer_of(int socket);

}  // namespace krux
