// The vault's key: where it comes from, and who may have it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/vault/key_file.hpp"
#include "core/vault/seal.hpp"
#include "core/vault/vault_state.hpp"

namespace krux {
namespace {

constexpr std::string_view kKnownText = "kruxos vault key 1";
const std::vector<std::string> kKnownTextBelongsTo{"known text"};

}  // namespace

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

bool opens_known_text(const Secret& key, const std::string& known_text) {
  return open_sealed(key, known_text, kKnownTextBelongsTo).has_value();
}

std::string new_known_text(const Secret& key) {
  return seal(key, kKnownText, kKnownTextBelongsTo);
}

const char* to_string(VaultMode mode) {
  return mode == VaultMode::kPassphrase ? "passphrase" : "key_file";
}

Error vault_is_locked() {
  return {ErrorCode::kServiceUnavailable,
          "The vault that holds the services' tokens is locked. Nothing was done; the operator unlocks it with: "
          "kruxos vault unlock",
          true, 60'000};
}

// --- at the start ---

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
  const bool found_opens = found && opens_known_text(*found, key_row.known_text);
  auto staged = found_opens ? std::nullopt : read_key_file(staged_file);
  if (staged && opens_known_text(*staged, key_row.known_text)) {
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
  if (!opens_known_text(*found, key_row.known_text)) {
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
    if (left && opens_known_text(*left, key_row.replaced_known_text)) remove_key_file(options.key_file);
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
  if (opens_known_text(*made, key_row.known_text)) {
    tries.right();
    return made;
  }
  tries.wrong();
  throw Error(ErrorCode::kNotAuthenticated,
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

}  // namespace krux
