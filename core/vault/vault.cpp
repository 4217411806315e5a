#include "core/vault/vault.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
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

}  // namespace

std::vector<std::string> token_belongs_to(const Connection& c) {
  return {"token", c.service, c.account_id, fmt::format("{}", c.generation), c.token_origin};
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

Vault::Vault(GroupCommit& store, Clock& clock, VaultOptions options)
    : state_(std::make_unique<State>(store, clock, std::move(options))) {
  check_key_outside(state_->options.key_file, state_->options.data_dir);
  state_->load();
  state_->open();
}

Vault::~Vault() = default;

std::uint32_t Vault::connect(Connection connection, const Secret& token) {
  if (token.empty() || token.size() > kMaxToken)
    throw invalid_input(fmt::format("The token is empty or longer than {} bytes.", kMaxToken));
  if (connection.service.empty() || connection.account_id.empty())
    throw invalid_input("A connection needs a service and an account id.");
  const std::lock_guard changing(state_->changing);
  state_->settle();
  const auto key = state_->must_be_open();
  {
    const std::lock_guard lock(state_->mutex);
    const auto last = state_->rows.find({connection.service, connection.account_id});
    const bool known = last != state_->rows.end();
    const bool same =
        known && !last->second.sealed.empty() && last->second.connection.principal == connection.principal;
    connection.generation = !known ? 1 : last->second.connection.generation + (same ? 0 : 1);
  }
  connection.connected_at_ms = state_->clock.wall_ms();
  connection.attention.clear();
  connection.needs_attention = false;
  const auto scopes = scopes_json(connection.scopes);
  const VaultRow row{connection, seal(*key, token.reveal(), token_belongs_to(connection))};
  state_->store.run([&](SQLite::Database& db) {
    const auto& c = row.connection;
    Statement upsert(
        db.getHandle(),
        "INSERT INTO connections (service, account_id, generation, display_name, scopes_json, "
        "scopes_known, token_origin, connected_at_ms, attention, token, principal) VALUES (?, ?, ?, ?, ?, ?, ?, "
        "?, '', ?, ?) ON CONFLICT (service, account_id) DO UPDATE SET generation = excluded.generation, "
        "display_name = excluded.display_name, scopes_json = excluded.scopes_json, scopes_known = "
        "excluded.scopes_known, token_origin = excluded.token_origin, connected_at_ms = "
        "excluded.connected_at_ms, attention = '', token = excluded.token, principal = excluded.principal");
    upsert.bind_all(c.service, c.account_id, std::int64_t{c.generation}, c.display_name, scopes,
                    std::int64_t{c.scopes_known}, c.token_origin, c.connected_at_ms);
    upsert.bind_blob(9, row.sealed);
    upsert.bind(10, c.principal);
    upsert.run();
  });
  state_->put(row);
  return connection.generation;
}

std::vector<Connection> Vault::connections() {
  const std::lock_guard lock(state_->mutex);
  std::vector<Connection> all;
  for (const auto& [key, row] : state_->rows) {
    if (!row.sealed.empty()) all.push_back(row.connection);
  }
  return all;
}

std::optional<Secret> Vault::token(const std::string& service, const std::string& account_id,
                                   std::uint32_t generation) {
  VaultRow row;
  VaultKeyPtr key;
  {
    // Together: a new key comes with newly sealed rows.
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->rows.find({service, account_id});
    if (at == state_->rows.end() || at->second.sealed.empty() || !state_->key) return std::nullopt;
    if (at->second.connection.generation != generation) return std::nullopt;
    row = at->second;
    key = state_->key;
  }
  auto token = open_sealed(*key, row.sealed, token_belongs_to(row.connection));
  if (!token)
    throw database_error(fmt::format("The stored token of {} {} is damaged. Connect the account again.", service,
                                     printable(account_id)));
  return token;
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

void Vault::disconnect(const std::string& service, const std::string& account_id) {
  const std::lock_guard changing(state_->changing);
  auto row = state_->connected(service, account_id);
  if (!row) return;
  state_->store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "UPDATE connections SET token = NULL, attention = '' WHERE service = ? AND account_id = ?")
        .bind_all(service, account_id)
        .run();
  });
  row->sealed.clear();
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
