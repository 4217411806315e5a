// What the configuration means for the host's parts.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/config.hpp"
#include "core/net/http_transport.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/storage/data_directory.hpp"
#include "core/vault/vault.hpp"
#include "core/write/place.hpp"

namespace krux {

PlaceOptions place_options(const Config& config);
VaultOptions vault_options(const Config& config, const DataDirectory& directory);
/// To services.
TransportOptions transport_options(const Config& config);
/// To the documents of clients that sign in.
TransportOptions document_transport_options(const Config& config);
SignInTimes sign_in_times(const Config& config);
/// Under which clients that sign in reach the gateway, which listens at `port`.
std::string public_origin(const Config& config, std::uint16_t port);

}  // namespace krux
