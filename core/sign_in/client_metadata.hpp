// What clients say of themselves: in a registration (RFC 7591), or in a document at their client_id.
#pragma once

#include <string>
#include <string_view>

#include "core/sign_in/sign_in.hpp"
#include "core/util/json.hpp"

namespace krux {

inline constexpr std::size_t kMostRedirects = 16, kMostRedirectBytes = 2048, kMostClientNameBytes = 200;

enum class SaidIn {
  kRegistration,  ///< one redirect address that is not taken refuses it, as RFC 7591 has it; it may have no name
  kDocument       ///< for whoever reads it: those of its redirect addresses that are taken count. It has a name
};

/// The name is one line, without what would make it look like something else. Throws SignInRefused:
/// invalid_redirect_uri, invalid_client_metadata.
ClientMetadata client_metadata(const JsonValue& object, SaidIn said_in);

/// Whether the address that a client asks for is one of its own: written the same, but that of one on the loopback
/// (127.0.0.1, [::1], localhost) the port is free (RFC 8252, 7.3).
bool redirect_fits(const ClientMetadata& client, std::string_view asked);

/// "claude.ai", "localhost:3000": for people.
std::string redirect_host(std::string_view redirect_uri);

/// Whether the browser goes back to a program on its own machine.
bool is_loopback_redirect(std::string_view redirect_uri);

}  // namespace krux
