// Authenticated encryption as the vault stores it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/vault/secret.hpp"

namespace krux {

/// Nonce and XChaCha20-Poly1305 ciphertext of `text`, bound to `belongs_to`: it opens only with the same values.
std::string seal(const Secret& key, std::string_view text, const std::vector<std::string>& belongs_to);

/// Nothing when key, bytes or `belongs_to` are not those of seal().
std::optional<Secret> open_sealed(const Secret& key, std::string_view sealed,
                                  const std::vector<std::string>& belongs_to);

}  // namespace krux
