// What the vault holds. Internal to it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/storage/group_commit.hpp"
#include "core/vault/vault.hpp"

namespace krux {

/// A row of `connections`: `sealed` is empty when it is disconnected.
struct VaultRow {
  Connection connection;
  std::string sealed;
  std::string sealed_as = "token";  ///< "token": the access token's text; "credential": credential_text()
};
using VaultRows = std::map<std::pair<std::string, std::string>, VaultRow>;  ///< by service and account_id

/// The row of `vault_key`.
struct VaultKeyRow {
  VaultMode mode = VaultMode::kKeyFile;
  std::string known_text;  ///< sealed with the key; empty: there is no row
  std::string salt;
  PassphraseCost cost;
  std::int64_t made_at_ms = 0;
  std::string replaced_known_text;  ///< under the key of a file that a passphrase has replaced
};

using VaultKeyPtr = std::shared_ptr<const Secret>;

struct Vault::State {
  State(GroupCommit& s, Clock& c, VaultOptions o) : store(s), clock(c), options(std::move(o)), tries(c) {}

  GroupCommit& store;
  Clock& clock;
  const VaultOptions options;

  std::mutex changing;    ///< one change at a time, database and memory together
  PassphraseTries tries;  ///< under `changing`, as is `unsettled`
  /// A change of the key whose commit failed: it may have become durable all the same.
  struct Rekeyed {
    VaultKeyPtr key;
    VaultKeyRow row;
    std::map<std::pair<std::string, std::string>, std::string> sealed;
  };
  std::optional<Rekeyed> unsettled;

  mutable std::mutex mutex;  ///< over what follows
  VaultKeyPtr key;           ///< null: locked
  VaultKeyRow key_row;
  VaultRows rows;

  // vault.cpp
  void load();
  std::optional<VaultRow> connected(const std::string& service, const std::string& account_id) const;
  void put(const VaultRow& row);
  std::ptrdiff_t connected_count() const;
  void check_name(const Connection& connection) const;
  std::uint32_t next_generation(const Connection& connection) const;
  std::int64_t next_time(const Connection& connection) const;
  void store_row(const VaultRow& row);
  /// What is stored of the account, in the clear; `row` is it.
  std::optional<Secret> open_row(const std::string& service, const std::string& account_id, std::uint32_t generation,
                                 VaultRow& row) const;

  // vault_key.cpp
  void open();
  void open_key_file();
  VaultKeyPtr find_key_file() const;
  void remove_replaced_key_file();
  VaultKeyPtr must_be_open() const;
  VaultKeyPtr check_passphrase(const Secret& passphrase);
  void set_first_passphrase(const Secret& passphrase);

  // vault_rekey.cpp
  void settle();
  void rekey(VaultKeyPtr to, VaultKeyRow row);
  void rekey_to_passphrase(const Secret& passphrase);
  void rekey_to_file();
  Rekeyed reseal(VaultKeyPtr to, VaultKeyRow row) const;
  void adopt(const Rekeyed& rekeyed);
};

VaultKeyRow read_key_row(SQLite::Database& db);
void write_key_row(SQLite::Database& db, const VaultKeyRow& key);
bool opens_known_text(const Secret& key, const std::string& known_text);
std::string new_known_text(const Secret& key);

/// What the row's secret is bound to.
std::vector<std::string> sealed_for(const VaultRow& row);

}  // namespace krux
