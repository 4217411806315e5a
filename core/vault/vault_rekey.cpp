// How another key takes the place of the vault's.
#include <fmt/format.h>

#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/text.hpp"
#include "core/vault/key_file.hpp"
#include "core/vault/seal.hpp"
#include "core/vault/vault_state.hpp"

namespace krux {

/// Every token under the new key.
Vault::State::Rekeyed Vault::State::reseal(VaultKeyPtr to, VaultKeyRow row) const {
  const std::lock_guard lock(mutex);
  Rekeyed rekeyed{std::move(to), std::move(row), {}};
  for (const auto& [of, stored] : rows) {
    if (stored.sealed.empty()) continue;
    const auto bound = sealed_for(stored);
    const auto token = open_sealed(*key, stored.sealed, bound);
    if (!token) {
      throw database_error(
          fmt::format("The stored token of {0} {1} is damaged, so that the key stays as it is. Connect "
                      "or disconnect the account first.",
                      of.first, printable(of.second)));
    }
    rekeyed.sealed[of] = seal(*rekeyed.key, token->reveal(), bound);
  }
  return rekeyed;
}

void Vault::State::adopt(const Rekeyed& rekeyed) {
  const std::lock_guard lock(mutex);
  key = rekeyed.key;
  key_row = rekeyed.row;
  for (const auto& [of, sealed] : rekeyed.sealed) {
    const auto at = rows.find(of);
    if (at != rows.end() && !at->second.sealed.empty()) at->second.sealed = sealed;
  }
}

/// Finds out what became of a change of the key whose commit failed.
void Vault::State::settle() {
  if (!unsettled) return;
  const auto stored = store.run(read_key_row);
  const bool changed = stored.known_text == unsettled->row.known_text;
  if (changed) adopt(*unsettled);
  unsettled.reset();
  if (!changed) return remove_key_file(staged_key_file(options.key_file));
  if (key_row.mode == VaultMode::kKeyFile) return adopt_staged_key_file(options.key_file);
  remove_replaced_key_file();
}

void Vault::State::rekey(VaultKeyPtr to, VaultKeyRow row) {
  row.made_at_ms = clock.wall_ms();
  row.known_text = new_known_text(*to);
  const auto rekeyed = reseal(std::move(to), std::move(row));
  KRUX_FAULT_POINT("vault.rekey.file.staged");
  try {
    store.run([&rekeyed](SQLite::Database& db) {
      for (const auto& [of, sealed] : rekeyed.sealed) {
        Statement update(db.getHandle(),
                         "UPDATE connections SET token = ?3 WHERE service = ?1 AND account_id = ?2 AND token NOT NULL");
        update.bind_all(of.first, of.second);
        update.bind_blob(3, sealed);
        update.run();
      }
      write_key_row(db, rekeyed.row);
      KRUX_FAULT_POINT("vault.rekey.before_commit");
    });
  } catch (...) {
    unsettled = rekeyed;
    throw;
  }
  KRUX_FAULT_POINT("vault.rekey.after_commit");
  adopt(rekeyed);
}

void Vault::State::rekey_to_file() {
  check_key_outside(options.key_file, options.data_dir, "data", "vault_key_file");
  auto made = std::make_shared<const Secret>(new_vault_key());
  stage_key_file(options.key_file, *made);
  rekey(std::move(made), VaultKeyRow{});
  try {
    adopt_staged_key_file(options.key_file);
  } catch (const Error& error) {
    throw database_error(
        fmt::format("The tokens are encrypted with the new key, but it could not be put into its "
                    "place: {} Keep {}: the next start takes the key from there.",
                    error.what(), staged_key_file(options.key_file).string()));
  }
  KRUX_FAULT_POINT("vault.rekey.file.adopted");
}

void Vault::State::rekey_to_passphrase(const Secret& passphrase) {
  const bool from_file = key_row.mode == VaultMode::kKeyFile;
  VaultKeyRow row;
  row.mode = VaultMode::kPassphrase;
  row.salt = new_passphrase_salt();
  row.cost = options.cost;
  if (from_file) row.replaced_known_text = key_row.known_text;
  auto made = std::make_shared<const Secret>(key_from_passphrase(passphrase, row.salt, row.cost));
  rekey(std::move(made), std::move(row));
  if (!from_file) return;
  remove_replaced_key_file();
  KRUX_FAULT_POINT("vault.rekey.file.adopted");
}

void Vault::rotate(const Secret& passphrase) {
  const std::lock_guard changing(state_->changing);
  state_->settle();
  state_->must_be_open();
  if (state_->key_row.mode == VaultMode::kKeyFile) return state_->rekey_to_file();
  state_->check_passphrase(passphrase);
  state_->rekey_to_passphrase(passphrase);
}

void Vault::set_passphrase(const Secret& passphrase, const Secret& wanted) {
  check_new_passphrase(wanted);
  const std::lock_guard changing(state_->changing);
  state_->settle();
  const bool is_empty = state_->connected_count() == 0;
  if (state_->key_row.mode == VaultMode::kPassphrase) {
    if (locked() && is_empty) return state_->set_first_passphrase(wanted);
    state_->must_be_open();
    state_->check_passphrase(passphrase);
  }
  state_->rekey_to_passphrase(wanted);
}

void Vault::use_key_file(const Secret& passphrase) {
  const std::lock_guard changing(state_->changing);
  state_->settle();
  if (state_->key_row.mode == VaultMode::kKeyFile) throw conflict("The vault's key is in a file already.");
  state_->must_be_open();
  state_->check_passphrase(passphrase);
  state_->rekey_to_file();
}

}  // namespace krux
