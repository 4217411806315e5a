// Backups of the running host, and of its vault's key by separate choice.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "core/backup/backup.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/paths.hpp"
#include "core/util/text.hpp"
#include "core/vault/key_file.hpp"
#include "host/bundles/pins.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

/// Where the key goes: a file that is to be made, and not beside what it opens.
fs::path checked_key_target(const OperatorApi::Backup& order, const fs::path& data_dir) {
  fs::path file(order.key_file);
  const auto name = printable(file.string());
  std::error_code error;
  if (!file.is_absolute() || !file.has_filename())
    throw invalid_input(fmt::format("{} is no place for the key: name a file that is to be made.", name));
  if (fs::exists(fs::symlink_status(file, error)))
    throw conflict(fmt::format("{} exists already. Name a file that is to be made.", name));
  for (const auto& outer : {fs::path(order.directory), data_dir}) {
    if (!lies_in(file, outer)) continue;
    throw invalid_input(
        fmt::format("{} lies inside {}: who gets that directory would have the tokens and the key that "
                    "opens them. Name a file elsewhere.",
                    name, printable(outer.string())));
  }
  return file;
}

Secret present_key(Vault& vault, const fs::path& key_file) {
  if (vault.status().mode == VaultMode::kPassphrase)
    throw invalid_input(
        "The vault is protected by a passphrase: there is no key file to back up, and the passphrase "
        "of this moment opens the backup. Leave --with-key out.");
  auto key = read_key_file(key_file);
  if (!key) throw invalid_input(fmt::format("There is no key yet at {}. Leave --with-key out.", key_file.string()));
  return std::move(*key);
}

/// The key that was there before the ledger was copied and still is there is the copy's.
void write_key(const fs::path& target, const Secret& before, Vault& vault, const fs::path& key_file) {
  const auto now = present_key(vault, key_file);
  if (now.reveal() != before.reveal())
    throw conflict(
        "The vault's key was changed while the backup was made, so that the key was not copied. The backup "
        "is there; remove it and repeat this.");
  stage_key_file(target, now);
  adopt_staged_key_file(target);
}

/// A backup that leaves out bundles would be found out when it is needed.
std::vector<std::string> pinned_files_in(const fs::path& directory) {
  try {
    return pinned_files(read_pins(directory));
  } catch (const ConfigError& error) {
    throw conflict(fmt::format("No backup was made: which bundles are installed cannot be read. {}", error.what()));
  }
}

}  // namespace

std::string OperatorService::backup(const Backup& order, const std::string& who) {
  const auto& data_dir = parts_.config.data_dir;
  const auto& key_file = parts_.config.vault_key_file;
  const bool with_key = !order.key_file.empty();
  const auto key_target = with_key ? checked_key_target(order, data_dir) : fs::path();
  const auto key = with_key ? present_key(parts_.vault, key_file) : Secret();
  const auto made =
      make_backup({data_dir, parts_.config.bundles_dir, fs::path(order.directory).lexically_normal(), KRUXOS_VERSION,
                   parts_.clock.wall_ms(), order.replicas, [this] { return parts_.stopping.load(); }, pinned_files_in});
  if (with_key) write_key(key_target, key, parts_.vault, key_file);
  std::int64_t bytes = 0;
  for (const auto& file : made.files) bytes += file.copied.size;
  spdlog::info("{} made a backup in {}: {} files, {} bytes{}", who, printable(order.directory), made.files.size(),
               bytes, with_key ? ", and a copy of the vault's key" : "");
  return json_object([&](JsonWriter& out) {
    put(out, "directory", order.directory);
    put(out, "made_at_ms", made.made_at_ms);
    put(out, "files", static_cast<std::int64_t>(made.files.size()));
    put(out, "bytes", bytes);
    put(out, "key_file", order.key_file);
    put(out, "passphrase", parts_.vault.status().mode == VaultMode::kPassphrase);
  });
}

}  // namespace krux
