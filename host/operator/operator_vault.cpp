// The vault, as the operator sees it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/util/json_out.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {

std::string OperatorService::vault() {
  const auto status = parts_.vault.status();
  return json_object([&](JsonWriter& out) {
    put_key(out, "vault");
    out.StartObject();
    put(out, "mode", to_string(status.mode));
    put(out, "locked", status.locked);
    put(out, "key_made_at_ms", status.key_made_at_ms);
    put(out, "tokens", status.tokens);
    if (status.mode == VaultMode::kKeyFile) {
      put(out, "key_file", parts_.config.vault_key_file.string());
    } else {
      put(out, "passphrase_set", status.passphrase_set);
      put(out, "argon2_passes", status.cost.passes);
      put(out, "argon2_memory_mib", status.cost.memory_bytes >> 20);
      put(out, "next_try_in_ms", status.next_try_ms);
    }
    out.EndObject();
  });
}

std::string OperatorService::unlock_vault(const Secret& passphrase, const std::string& who) {
  const bool was_locked = parts_.vault.locked();
  try {
    parts_.vault.unlock(passphrase);
  } catch (const Error& error) {
    spdlog::warn("{} tried to unlock the vault: {}", who, error.what());
    throw;
  }
  if (was_locked) {
    spdlog::info("{} unlocked the vault", who);
    parts_.services.unlocked();
  }
  return vault();
}

std::string OperatorService::rotate_vault(const Secret& passphrase, const std::string& who) {
  parts_.vault.rotate(passphrase);
  spdlog::info("{} gave the vault a new key", who);
  return vault();
}

std::string OperatorService::set_vault_passphrase(const Secret& passphrase, const Secret& wanted,
                                                  const std::string& who) {
  const bool was_locked = parts_.vault.locked();
  parts_.vault.set_passphrase(passphrase, wanted);
  spdlog::info("{} set the vault's passphrase", who);
  if (was_locked) parts_.services.unlocked();
  return vault();
}

std::string OperatorService::use_vault_key_file(const Secret& passphrase, const std::string& who) {
  parts_.vault.use_key_file(passphrase);
  spdlog::info("{} moved the vault's key to {}", who, parts_.config.vault_key_file.string());
  return vault();
}

}  // namespace krux
