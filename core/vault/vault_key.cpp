// The vault's key: where it comes from, and how another one takes its place.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/vault/key_file.hpp"
#include "core/vault/seal.hpp"
#include "core/vault/vault_state.hpp"

namespace krux {
namespace {

constexpr std::string_view kKnownText = "kruxos vault key 1";
const std::vector<std::string> kKnownTextBelongsTo{"known text"};

std::vector<std::string> parse_scopes(std::string_view json) {
  std::vector<std::string> scopes;
  const auto document = parse_json(json, "a connection's scopes");
  if (!document.IsArray()) return scopes;
  for (const auto& scope : document.GetArray()) {
    if (scope.IsString()) scopes.emplace_back(view(scope));
  }
  return scopes;
}

VaultRow read_row(const Statement& row) {
  VaultRow r;
  auto& c = r.connection;
  c.service = row.text(0);
  c.account_id = row.text(1);
  c.generation = static_cast<std::uint32_t>(row.integer(2));
  c.display_name = row.text(3);
  c.scopes = parse_scopes(row.text(4));
  c.scopes_known = row.integer(5) != 0;
  c.token_origin = row.text(6);
  c.connected_at_ms = row.integer(7);
  c.attention = row.text(8);
  c.needs_attention = !c.attention.empty();
  r.sealed = row.blob(9);
  c.principal = row.text(10);
  return r;
}

VaultKeyRow read_key_row(SQLite::Database& db) {
  VaultKeyRow key;
  Statement row(db.getHandle(),
                "SELECT mode, known_text, salt, passes, memory_bytes, made_at_ms, replaced_known_text FROM vault_key");
  if (!row.step()) return key;
  key.mode = row.text(0) == "passphrase" ? VaultMode::kPassphrase : VaultMode::kKeyFile;
  key.known_text = row.blob(1);
  key.salt = row.blob(2);
  if (key.mode == VaultMode::kPassphrase) key.cost = {row.integer(3), row.integer(4)};
  key.made_at_ms = row.integer(5);
  key.replaced_known_text = row.blob(6);
  return key;
}

void write_key_row(SQLite::Database& db, const VaultKeyRow& key) {
  Statement insert(db.getHandle(),
                   "INSERT OR REPLACE INTO vault_key (only, mode, known_text, salt, passes, memory_bytes, made_at_ms, "
                   "replaced_known_text) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  insert.bind(1, to_string(key.mode));
  insert.bind_blob(2, key.known_text);
  if (key.mode == VaultMode::kPassphrase) {
    insert.bind_blob(3, key.salt);
    insert.bind(4, key.cost.passes);
    insert.bind(5, key.cost.memory_bytes);
  }
  insert.bind(6, key.made_at_ms);
  if (!key.replaced_known_text.empty()) insert.bind_blob(7, key.replaced_known_text);
  insert.run();
}

bool opens(const Secret& key, const std::string& known_text) {
  return open_sealed(key, known_text, kKnownTextBelongsTo).has_value();
}

std::string new_known_text(const Secret& key) {
  return seal(key, kKnownText, kKnownTextBelongsTo);
}

}  // namespace

const char* to_string(VaultMode mode) {
  return mode == VaultMode::kPassphrase ? "passphrase" : "key_file";
}

Error vault_is_locked() {
  return {"ServiceUnavailable",
          "The vault that holds the services' tokens is locked. Nothing was done; the operator unlocks it with: "
          "kruxos vault unlock",
          true, 60'000};
}

// --- at the start ---

void Vault::State::load() {
  rows = store.run([](SQLite::Database& db) {
    VaultRows all;
    Statement select(db.getHandle(),
                     "SELECT service, account_id, generation, display_name, scopes_json, scopes_known, token_origin, "
                     "connected_at_ms, attention, token, principal FROM connections");
    while (select.step()) {
      auto row = read_row(select);
      std::pair of{row.connection.service, row.connection.account_id};
      all.emplace(std::move(of), std::move(row));
    }
    return all;
  });
  key_row = store.run(read_key_row);
}

void Vault::State::open() {
  const bool is_new = key_row.known_text.empty() || (key_row.mode == VaultMode::kKeyFile && connected_count() == 0);
  if (is_new && options.new_vault == VaultMode::kPassphrase) {
    key_row = VaultKeyRow{};
    key_row.mode = VaultMode::kPassphrase;
    key_row.cost = options.cost;
    return;
  }
  if (key_row.mode == VaultMode::kKeyFile) return open_key_file();
  remove_replaced_key_file();
  remove_key_file(staged_key_file(options.key_file));  // of a move that a kill ended before its commit
}

/// The key of the file, or the one beside it where a host was killed before it could put it into its place.
VaultKeyPtr Vault::State::find_key_file() const {
  const auto& file = options.key_file;
  const auto staged_file = staged_key_file(file);
  auto found = read_key_file(file);
  const bool found_opens = found && opens(*found, key_row.known_text);
  auto staged = found_opens ? std::nullopt : read_key_file(staged_file);
  if (staged && opens(*staged, key_row.known_text)) {
    adopt_staged_key_file(file);
    spdlog::info("the vault's new key was put into its place: {}", file.string());
    return std::make_shared<const Secret>(*std::move(staged));
  }
  if (found_opens) remove_key_file(staged_file);
  return found ? std::make_shared<const Secret>(*std::move(found)) : nullptr;
}

void Vault::State::open_key_file() {
  const auto& file = options.key_file;
  auto found = find_key_file();
  const auto tokens = connected_count();
  if (!found && tokens > 0) {
    throw ConfigError(
        fmt::format("The vault's key file {} is missing, and the stored tokens ({}) are encrypted with it. Nothing was "
                    "changed: put the file back, or set vault_key_file to where it is.",
                    file.string(), tokens));
  }
  if (!found) found = std::make_shared<const Secret>(create_key_file(file));
  if (!opens(*found, key_row.known_text)) {
    if (tokens > 0) {
      throw ConfigError(
          fmt::format("The vault's key file {} holds another key than the one that the stored tokens were encrypted "
                      "with. Nothing was changed: put the right file back, or set vault_key_file to where it is.",
                      file.string()));
    }
    key_row = VaultKeyRow{};
    key_row.known_text = new_known_text(*found);
    key_row.made_at_ms = clock.wall_ms();
    store.run([this](SQLite::Database& db) { write_key_row(db, key_row); });
  }
  key = std::move(found);
}

/// The host was killed between the move to a passphrase and this. A file that holds another key is somebody's own.
void Vault::State::remove_replaced_key_file() {
  if (key_row.replaced_known_text.empty()) return;
  try {
    const auto left = read_key_file(options.key_file);
    if (left && opens(*left, key_row.replaced_known_text)) remove_key_file(options.key_file);
    key_row.replaced_known_text.clear();
    store.run([this](SQLite::Database& db) { write_key_row(db, key_row); });
  } catch (const std::exception& error) {
    spdlog::warn("the key file that the vault's passphrase has replaced could not be removed: {}", error.what());
  }
}

// --- who may ---

VaultKeyPtr Vault::State::must_be_open() const {
  const std::lock_guard lock(mutex);
  if (!key) throw vault_is_locked();
  return key;
}

VaultKeyPtr Vault::State::check_passphrase(const Secret& passphrase) {
  tries.begin();
  auto made = std::make_shared<const Secret>(key_from_passphrase(passphrase, key_row.salt, key_row.cost));
  if (opens(*made, key_row.known_text)) {
    tries.right();
    return made;
  }
  tries.wrong();
  throw Error("NotAuthenticated",
              fmt::format("The passphrase is wrong. Nothing was changed; the next try is possible in {} s.",
                          (tries.wait_ms() + 999) / 1000));
}

VaultStatus Vault::status() {
  const std::lock_guard changing(state_->changing);
  VaultStatus status;
  status.tokens = state_->connected_count();
  status.next_try_ms = state_->tries.wait_ms();
  const std::lock_guard lock(state_->mutex);
  const auto& row = state_->key_row;
  status.mode = row.mode;
  status.locked = !state_->key;
  status.passphrase_set = row.mode == VaultMode::kPassphrase && !row.known_text.empty();
  status.key_made_at_ms = row.made_at_ms;
  status.cost = row.cost;
  return status;
}

bool Vault::locked() {
  const std::lock_guard lock(state_->mutex);
  return !state_->key;
}

void Vault::unlock(const Secret& passphrase) {
  const std::lock_guard changing(state_->changing);
  if (state_->key_row.mode == VaultMode::kKeyFile)
    throw conflict("The vault is open: its key is in a file. kruxos vault passphrase moves it to a passphrase.");
  if (!locked()) return;
  if (state_->key_row.known_text.empty()) return state_->set_first_passphrase(passphrase);
  auto key = state_->check_passphrase(passphrase);
  const std::lock_guard lock(state_->mutex);
  state_->key = std::move(key);
}

// --- another key ---

void Vault::State::set_first_passphrase(const Secret& passphrase) {
  check_new_passphrase(passphrase);
  VaultKeyRow row;
  row.mode = VaultMode::kPassphrase;
  row.salt = new_passphrase_salt();
  row.cost = options.cost;
  row.made_at_ms = clock.wall_ms();
  auto made = std::make_shared<const Secret>(key_from_passphrase(passphrase, row.salt, row.cost));
  row.known_text = new_known_text(*made);
  store.run([&row](SQLite::Database& db) { write_key_row(db, row); });
  const std::lock_guard lock(mutex);
  key = std::move(made);
  key_row = std::move(row);
}

/// Every token under the new key.
Vault::State::Rekeyed Vault::State::reseal(VaultKeyPtr to, VaultKeyRow row) const {
  const std::lock_guard lock(mutex);
  Rekeyed rekeyed{std::move(to), std::move(row), {}};
  for (const auto& [of, stored] : rows) {
    if (stored.sealed.empty()) continue;
    const auto bound = token_belongs_to(stored.connection);
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
  KRUX_FAULT_POINT("vault.rekey.staged");
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
  check_key_outside(options.key_file, options.data_dir);
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
  KRUX_FAULT_POINT("vault.rekey.adopted");
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
  KRUX_FAULT_POINT("vault.rekey.adopted");
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
