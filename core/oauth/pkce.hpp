// The random texts of an authorization: PKCE (RFC 7636) and `state`.
#pragma once

#include <string>
#include <string_view>

#include "core/vault/secret.hpp"

namespace krux {

/// Without padding (RFC 4648, 5).
std::string base64url(std::string_view bytes);

/// 32 bytes of the system's randomness in base64url: 43 characters. Fit as code verifier and as state.
Secret random_text();

/// S256 of a code verifier.
std::string challenge_of(std::string_view verifier);

}  // namespace krux
