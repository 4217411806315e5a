#include "host/process/part_options.hpp"

#include <fmt/format.h>

#include "core/write/write.hpp"

namespace krux {

PlaceOptions place_options(const Config& config) {
  return {config.places_dir, config.held, machine_boot_id(), read_machine_id(), config.retry.settle_ms};
}

VaultOptions vault_options(const Config& config, const DataDirectory& directory) {
  return {config.vault_key_file,
          directory.path(),
          config.vault.passphrase ? VaultMode::kPassphrase : VaultMode::kKeyFile,
          {config.vault.argon2_passes, config.vault.argon2_memory_mib << 20}};
}

TransportOptions transport_options(const Config& config) {
  TransportOptions options;
  options.extra_ca_file = config.net.ca_file;
  options.allowed_networks = config.net.allow_private_hosts;
  options.user_agent = "kruxos/" KRUXOS_VERSION;
  return options;
}

/// Strangers choose where it leads: what the operator has listed for services is not for them.
TransportOptions document_transport_options(const Config& config) {
  auto options = transport_options(config);
  options.allowed_networks.clear();
  return options;
}

SignInTimes sign_in_times(const Config& config) {
  SignInTimes times;
  times.access_ms = config.server.sign_in.access_token_ms;
  times.idle_ms = config.server.sign_in.idle_ms;
  return times;
}

std::string public_origin(const Config& config, std::uint16_t port) {
  const auto& server = config.server;
  if (!server.sign_in.public_url.empty()) return server.sign_in.public_url;
  const auto host = server.host == "localhost" ? "127.0.0.1" : server.host;
  return fmt::format("http://{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]", port);
}

}  // namespace krux
