#include "core/vault/vault.hpp"

#include <fmt/format.h>

#include <algorithm>

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

constexpr std::size_t kMaxToken = 16'384;

std::string scopes_json(const std::vector<std::string>& scopes) {
  std::string out;
  for (const auto& scope : scopes) out += (out.empty() ? "[" : ",") + json_string(scope);
  return out.empty() ? "[]" : out + "]";
}

std::vector<std::string> parse_scopes(std::string_view json) {
  std::vector<std::string> scopes;
  const auto document = parse_json(json, "a connection's scopes");
  if (!document.IsArray()) return scopes;
  for (const auto& scope : document.GetArray()) {
    if (scope.IsString()) scopes.emplace_back(view(scope));
  }
  return scopes;
}

std::string settings_json(const std::map<std::string, std::string>& settings) {
  std::string out = "{";
  for (const auto& [name, value] : settings)
    out += (out.size() > 1 ? "," : "") + json_string(name) + ":" + json_string(value);
  return out + "}";
}

std::map<std::string, std::string> parse_settings(std::string_view json) {
  std::map<std::string, std::string> settings;
  const auto document = parse_json(json, "a connection's settings");
  if (!document.IsObject()) return settings;
  for (const auto& member : document.GetObject()) {
    if (member.value.IsString()) settings[std::string(view(member.name))] = view(member.value);
  }
  return settings;
}

Error damaged(const std::string& service, const std::string& account_id) {
  return database_error(
      fmt::format("The stored token of {} {} is damaged. Connect the account again.", service, printable(account_id)));
}

VaultRow vault_row(const Statement& row) {
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
  c.name = row.text(11);
  c.profile = row.text(12);
  c.flow = row.text(13);
  c.expires_at_ms = row.integer(14);
  c.refreshable = row.integer(15) != 0;
  r.sealed_as = row.text(16);
  c.adapter = row.text(17);
  c.base_url = row.text(18);
  c.settings = parse_settings(row.text(19));
  return r;
}

}  // namespace

bool is_same_adapter(const Connection& known, const std::string& adapter) {
  return known.adapter.empty() ? adapter != kAdapterMock : known.adapter == adapter;
}

std::vector<std::string> sealed_for(const VaultRow& row) {
  const auto& c = row.connection;
  return {row.sealed_as, c.service, c.account_id, fmt::format("{}", c.generation), c.token_origin};
}

std::ptrdiff_t Vault::State::connected_count() const {
  const std::lock_guard lock(mutex);
  return std::count_if(rows.begin(), rows.end(), [](const auto& item) { return !item.second.sealed.empty(); });
}

std::optional<VaultRow> Vault::State::connected(const std::string& service, const std::string& account_id) const {
  const std::lock_guard lock(mutex);
  const auto at = rows.find({service, account_id});
  if (at == rows.end() || at->second.sealed.empty()) return std::nullopt;
  return at->second;
}

void Vault::State::put(const VaultRow& row) {
  const std::lock_guard lock(mutex);
  rows[{row.connection.service, row.connection.account_id}] = row;
}

void Vault::State::load() {
  rows = store.run([](SQLite::Database& db) {
    VaultRows all;
    Statement select(db.getHandle(),
                     "SELECT service, account_id, generation, display_name, scopes_json, scopes_known, token_origin, "
                     "connected_at_ms, attention, token, principal, name, profile, flow, expires_at_ms, refreshable, "
                     "sealed_as, adapter, base_url, settings_json FROM connections");
    while (select.step()) {
      auto row = vault_row(select);
      std::pair of{row.connection.service, row.connection.account_id};
      all.emplace(std::move(of), std::move(row));
    }
    return all;
  });
  key_row = store.run(read_key_row);
}

Vault::Vault(GroupCommit& store, Clock& clock, VaultOptions options)
    : state_(std::make_unique<State>(store, clock, std::move(options))) {
  check_key_outside(state_->options.key_file, state_->options.data_dir, "data", "vault_key_file");
  state_->load();
  state_->open();
}

Vault::~Vault() = default;

/// Nobody but the account itself may have its name.
void Vault::State::check_name(const Connection& connection) const {
  const std::lock_guard lock(mutex);
  for (const auto& [of, row] : rows) {
    if (row.sealed.empty() || of.first != connection.service || of.second == connection.account_id) continue;
    if (!connection.name.empty() && row.connection.name == connection.name)
      throw conflict(
          fmt::format("The name {} belongs to another account of {}: {} ({}). Choose another name, or "
                      "disconnect that one first. Nothing was changed.",
                      printable(connection.name), connection.service, printable(of.second),
                      printable(row.connection.display_name)));
  }
}

std::uint32_t Vault::State::next_generation(const Connection& connection) const {
  const std::lock_guard lock(mutex);
  const auto last = rows.find({connection.service, connection.account_id});
  if (last == rows.end()) return 1;
  const auto& before = last->second;
  const bool same = !before.sealed.empty() && before.connection.principal == connection.principal &&
                    is_same_adapter(before.connection, connection.adapter);
  return before.connection.generation + (same ? 0 : 1);
}

/// Each connection of an account has a time of its own, by which a refresh knows that it came too late.
std::int64_t Vault::State::next_time(const Connection& connection) const {
  const std::lock_guard lock(mutex);
  const auto last = rows.find({connection.service, connection.account_id});
  const auto now = clock.wall_ms();
  const bool is_taken = last != rows.end() && last->second.connection.connected_at_ms == now;
  return now + (is_taken ? 1 : 0);
}

void Vault::State::store_row(const VaultRow& row) {
  const auto scopes = scopes_json(row.connection.scopes), settings = settings_json(row.connection.settings);
  store.run([&](SQLite::Database& db) {
    const auto& c = row.connection;
    Statement upsert(
        db.getHandle(),
        "INSERT INTO connections (service, account_id, generation, display_name, scopes_json, scopes_known, "
        "token_origin, connected_at_ms, attention, token, principal, name, profile, flow, expires_at_ms, refreshable, "
        "sealed_as, adapter, base_url, settings_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, "
        "?) ON CONFLICT (service, "
        "account_id) DO "
        "UPDATE SET generation = excluded.generation, display_name = excluded.display_name, scopes_json = "
        "excluded.scopes_json, scopes_known = excluded.scopes_known, token_origin = excluded.token_origin, "
        "connected_at_ms = excluded.connected_at_ms, attention = '', token = excluded.token, principal = "
        "excluded.principal, name = excluded.name, profile = excluded.profile, flow = excluded.flow, expires_at_ms = "
        "excluded.expires_at_ms, refreshable = excluded.refreshable, sealed_as = excluded.sealed_as, adapter = "
        "excluded.adapter, base_url = excluded.base_url, settings_json = excluded.settings_json");
    upsert.bind_all(c.service, c.account_id, std::int64_t{c.generation}, c.display_name, scopes,
                    std::int64_t{c.scopes_known}, c.token_origin, c.connected_at_ms);
    upsert.bind_blob(9, row.sealed);
    upsert.bind(10, c.principal);
    upsert.bind(11, c.name);
    upsert.bind(12, c.profile);
    upsert.bind(13, c.flow);
    upsert.bind(14, c.expires_at_ms);
    upsert.bind(15, std::int64_t{c.refreshable});
    upsert.bind(16, row.sealed_as);
    upsert.bind(17, c.adapter);
    upsert.bind(18, c.base_url);
    upsert.bind(19, settings);
    upsert.run();
  });
}

std::uint32_t Vault::connect(Connection connection, const Secret& token) {
  Credential credential;
  credential.access_token = copy_of(token);
  return connect(std::move(connection), credential);
}

std::uint32_t Vault::connect(Connection connection, const Credential& credential) {
  const auto text = credential.is_plain() ? copy_of(credential.access_token) : credential_text(credential);
  if (credential.access_token.empty() || text.size() > kMaxToken)
    throw invalid_input(fmt::format("The token is empty or longer than {} bytes.", kMaxToken));
  if (connection.service.empty() || connection.account_id.empty())
    throw invalid_input("A connection needs a service and an account id.");
  const std::lock_guard changing(state_->changing);
  state_->settle();
  const auto key = state_->must_be_open();
  state_->check_name(connection);
  connection.generation = state_->next_generation(connection);
  connection.connected_at_ms = state_->next_time(connection);
  connection.attention.clear();
  connection.needs_attention = false;
  connection.refreshable = !credential.refresh_token.empty();
  VaultRow row{connection, {}, credential.is_plain() ? "token" : "credential"};
  row.sealed = seal(*key, text.reveal(), sealed_for(row));
  KRUX_FAULT_POINT("vault.connect.before_commit");
  state_->store_row(row);
  KRUX_FAULT_POINT("vault.connect.after_commit");
  state_->put(row);
  return connection.generation;
}

void Vault::renew(const std::string& service, const std::string& account_id, std::uint32_t generation,
                  const Credential& credential, std::int64_t expires_at_ms) {
  const std::lock_guard changing(state_->changing);
  state_->settle();
  const auto key = state_->must_be_open();
  auto row = state_->connected(service, account_id);
  if (!row || row->connection.generation != generation || row->connection.connected_at_ms != credential.connected_at_ms)
    throw not_connected(
        fmt::format("{} {} was disconnected or connected again meanwhile.", service, printable(account_id)));
  row->connection.expires_at_ms = expires_at_ms;
  row->connection.refreshable = !credential.refresh_token.empty();
  row->sealed_as = "credential";
  row->sealed = seal(*key, credential_text(credential).reveal(), sealed_for(*row));
  KRUX_FAULT_POINT("vault.renew.before_commit");
  state_->store.run([&](SQLite::Database& db) {
    Statement update(db.getHandle(),
                     "UPDATE connections SET expires_at_ms = ?, refreshable = ?, sealed_as = 'credential', token = ? "
                     "WHERE service = ? AND account_id = ? AND generation = ? AND token NOT NULL");
    update.bind(1, row->connection.expires_at_ms);
    update.bind(2, std::int64_t{row->connection.refreshable});
    update.bind_blob(3, row->sealed);
    update.bind(4, service);
    update.bind(5, account_id);
    update.bind(6, std::int64_t{generation});
    update.run();
  });
  KRUX_FAULT_POINT("vault.renew.after_commit");
  state_->put(*row);
}

std::vector<Connection> Vault::connections() {
  const std::lock_guard lock(state_->mutex);
  std::vector<Connection> all;
  for (const auto& [key, row] : state_->rows) {
    if (!row.sealed.empty()) all.push_back(row.connection);
  }
  return all;
}

std::optional<Secret> Vault::State::open_row(const std::string& service, const std::string& account_id,
                                             std::uint32_t generation, VaultRow& row) const {
  VaultKeyPtr with;
  {
    // Together: a new key comes with newly sealed rows.
    const std::lock_guard lock(mutex);
    const auto at = rows.find({service, account_id});
    if (at == rows.end() || at->second.sealed.empty() || !key) return std::nullopt;
    if (at->second.connection.generation != generation) return std::nullopt;
    row = at->second;
    with = key;
  }
  auto text = open_sealed(*with, row.sealed, sealed_for(row));
  if (!text) throw damaged(service, account_id);
  return text;
}

std::optional<Secret> Vault::token(const std::string& service, const std::string& account_id,
                                   std::uint32_t generation) {
  VaultRow row;
  auto text = state_->open_row(service, account_id, generation, row);
  if (!text || row.sealed_as == "token") return text;
  auto token = parse_access_token(text->reveal());
  if (!token) throw damaged(service, account_id);
  return token;
}

std::optional<Credential> Vault::credential(const std::string& service, const std::string& account_id,
                                            std::uint32_t generation) {
  VaultRow row;
  auto text = state_->open_row(service, account_id, generation, row);
  if (!text) return std::nullopt;
  std::optional<Credential> credential;
  if (row.sealed_as == "token") {
    credential.emplace().access_token = *std::move(text);
  } else {
    credential = parse_credential(text->reveal());
  }
  if (!credential) throw damaged(service, account_id);
  credential->connected_at_ms = row.connection.connected_at_ms;
  return credential;
}

void Vault::set_attention(const std::string& service, const std::string& account_id, const std::string& why) {
  const std::lock_guard changing(state_->changing);
  auto row = state_->connected(service, account_id);
  if (!row) throw not_connected(fmt::format("{} {} is not connected.", service, printable(account_id)));
  if (row->connection.attention == why) return;
  state_->store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE connections SET attention = ? WHERE service = ? AND account_id = ?")
        .bind_all(why, service, account_id)
        .run();
  });
  row->connection.attention = why;
  row->connection.needs_attention = !why.empty();
  state_->put(*row);
}

void Vault::note_adapter(const std::string& service, const std::string& account_id, const std::string& adapter) {
  const std::lock_guard changing(state_->changing);
  auto row = state_->connected(service, account_id);
  if (!row) throw not_connected(fmt::format("{} {} is not connected.", service, printable(account_id)));
  state_->store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE connections SET adapter = ? WHERE service = ? AND account_id = ?")
        .bind_all(adapter, service, account_id)
        .run();
  });
  row->connection.adapter = adapter;
  state_->put(*row);
}

void Vault::disconnect(const std::string& service, const std::string& account_id) {
  const std::lock_guard changing(state_->changing);
  auto row = state_->connected(service, account_id);
  if (!row) return;
  state_->store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "UPDATE connections SET token = NULL, attention = '', name = '', expires_at_ms = 0, refreshable = 0 "
              "WHERE service = ? AND account_id = ?")
        .bind_all(service, account_id)
        .run();
  });
  row->sealed.clear();
  row->connection.name.clear();
  state_->put(*row);
}

bool Vault::holds_token(const std::string& service, const std::string& account_id) {
  return state_->store.run([&](SQLite::Database& db) {
    Statement row(db.getHandle(), "SELECT token IS NOT NULL FROM connections WHERE service = ? AND account_id = ?");
    row.bind_all(service, account_id);
    return row.step() && row.integer(0) != 0;
  });
}

}  // namespace krux
