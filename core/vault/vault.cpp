#include "core/vault/vault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/vault/key_file.hpp"
#include "core/vault/seal.hpp"

namespace krux {
namespace {

constexpr std::string_view kKnownText = "kruxos vault key 1";
constexpr std::size_t kMaxToken = 16'384;

/// A row of `connections`: `sealed` is empty when it is disconnected.
struct Row {
  Connection connection;
  std::string sealed;
};

using Key = std::pair<std::string, std::string>;  // service, account_id

std::vector<std::string> belongs_to(const Connection& c) {
  return {"token", c.service, c.account_id, fmt::format("{}", c.generation), c.token_origin};
}

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

Row read_row(const Statement& row) {
  Row r;
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

struct Vault::State {
  State(GroupCommit& s, Clock& c) : store(s), clock(c) {}

  GroupCommit& store;
  Clock& clock;
  Secret key;
  std::mutex changing;       ///< one change at a time, database and memory together
  mutable std::mutex mutex;  ///< over `rows`
  std::map<Key, Row> rows;

  void load();
  void take_key(const std::filesystem::path& file);
  void check_key(const std::filesystem::path& file, const std::string& known_text) const;
  std::optional<Row> connected(const Key& key) const;
  void put(const Row& row);
  std::ptrdiff_t connected_count() const;
};

void Vault::State::load() {
  rows = store.run([](SQLite::Database& db) {
    std::map<Key, Row> all;
    Statement select(db.getHandle(),
                     "SELECT service, account_id, generation, display_name, scopes_json, scopes_known, token_origin, "
                     "connected_at_ms, attention, token, principal FROM connections");
    while (select.step()) {
      auto row = read_row(select);
      Key of{row.connection.service, row.connection.account_id};
      all.emplace(std::move(of), std::move(row));
    }
    return all;
  });
}

std::ptrdiff_t Vault::State::connected_count() const {
  return std::count_if(rows.begin(), rows.end(), [](const auto& item) { return !item.second.sealed.empty(); });
}

void Vault::State::check_key(const std::filesystem::path& file, const std::string& known_text) const {
  if (open_sealed(key, known_text, {"known text"})) return;
  throw ConfigError(fmt::format(
      "The vault's key file {} holds another key than the one that the stored tokens were encrypted with. Nothing was "
      "changed: put the right file back, or set vault_key_file to where it is.",
      file.string()));
}

void Vault::State::take_key(const std::filesystem::path& file) {
  const auto known_text = store.run([](SQLite::Database& db) {
    Statement row(db.getHandle(), "SELECT known_text FROM vault_key");
    return row.step() ? std::string(row.blob(0)) : std::string();
  });
  auto found = read_key_file(file);
  if (!found && connected_count() > 0) {
    throw ConfigError(
        fmt::format("The vault's key file {} is missing, and the stored tokens ({}) are encrypted with it. Nothing was "
                    "changed: put the "
                    "file back, or set vault_key_file to where it is.",
                    file.string(), connected_count()));
  }
  key = found ? std::move(*found) : create_key_file(file);
  if (connected_count() > 0) return check_key(file, known_text);
  const auto sealed = seal(key, kKnownText, {"known text"});
  store.run([&](SQLite::Database& db) {
    Statement insert(db.getHandle(),
                     "INSERT INTO vault_key (only, known_text) VALUES (1, ?) "
                     "ON CONFLICT (only) DO UPDATE SET known_text = excluded.known_text");
    insert.bind_blob(1, sealed);
    insert.run();
  });
}

std::optional<Row> Vault::State::connected(const Key& of) const {
  const std::lock_guard lock(mutex);
  const auto at = rows.find(of);
  if (at == rows.end() || at->second.sealed.empty()) return std::nullopt;
  return at->second;
}

void Vault::State::put(const Row& row) {
  const std::lock_guard lock(mutex);
  rows[{row.connection.service, row.connection.account_id}] = row;
}

Vault::Vault(GroupCommit& store, Clock& clock, const std::filesystem::path& key_file,
             const std::filesystem::path& data_dir)
    : state_(std::make_unique<State>(store, clock)) {
  check_key_outside(key_file, data_dir);
  state_->load();
  state_->take_key(key_file);
}

Vault::~Vault() = default;

std::uint32_t Vault::connect(Connection connection, const Secret& token) {
  if (token.empty() || token.size() > kMaxToken)
    throw invalid_input(fmt::format("The token is empty or longer than {} bytes.", kMaxToken));
  if (connection.service.empty() || connection.account_id.empty())
    throw invalid_input("A connection needs a service and an account id.");
  const std::lock_guard changing(state_->changing);
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
  const Row row{connection, seal(state_->key, token.reveal(), belongs_to(connection))};
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
  const auto row = state_->connected({service, account_id});
  if (!row || row->connection.generation != generation) return std::nullopt;
  auto token = open_sealed(state_->key, row->sealed, belongs_to(row->connection));
  if (!token)
    throw database_error(fmt::format("The stored token of {} {} is damaged. Connect the account again.", service,
                                     printable(account_id)));
  return token;
}

void Vault::set_attention(const std::string& service, const std::string& account_id, const std::string& why) {
  const std::lock_guard changing(state_->changing);
  auto row = state_->connected({service, account_id});
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
  auto row = state_->connected({service, account_id});
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

}  // namespace krux
