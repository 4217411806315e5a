#include "core/sign_in/sign_in_rows.hpp"

#include "core/storage/statement.hpp"
#include "core/util/json.hpp"

namespace krux::sign_in {
namespace {

std::string uris_json(const std::vector<std::string>& uris) {
  std::string out;
  for (const auto& uri : uris) out += (out.empty() ? "[" : ",") + json_string(uri);
  return out + "]";
}

std::vector<std::string> uris_of(std::string_view json) {
  std::vector<std::string> uris;
  const auto list = parse_json(json, "A row of sign_in_clients");
  for (const auto& uri : list.GetArray()) uris.emplace_back(view(uri));
  return uris;
}

SignInDecision decision_of(std::string_view name) {
  if (name == to_string(SignInDecision::kAccepted)) return SignInDecision::kAccepted;
  return name == to_string(SignInDecision::kRejected) ? SignInDecision::kRejected : SignInDecision::kWaiting;
}

const char* name_of(TokenKind kind) {
  return kind == TokenKind::kAccess ? "access" : "refresh";
}

void load_clients(sqlite3* db, SignInRows& all) {
  Statement rows(db, "SELECT client_id, name, redirect_uris, registered_at_ms, used_at_ms FROM sign_in_clients");
  while (rows.step())
    all.clients.push_back({{std::string(rows.text(0)), {std::string(rows.text(1)), uris_of(rows.text(2))}},
                           rows.integer(3),
                           rows.integer(4)});
}

void load_requests(sqlite3* db, SignInRows& all) {
  Statement rows(db,
                 "SELECT handle_hash, code_hash, code, client_id, client_name, redirect_uri, client_state, challenge, "
                 "resource, peer, begun_at_ms, expires_at_ms, decision, agent_id, decided_by FROM sign_in_requests");
  while (rows.step()) {
    RequestRow row;
    row.handle_hash = rows.text(0);
    row.code_hash = rows.text(1);
    auto& request = row.request;
    request.request_id = request_id_of(row.handle_hash);
    request.code = rows.text(2);
    request.ask.client.client_id = rows.text(3);
    request.ask.client.metadata.name = rows.text(4);
    request.ask.redirect_uri = rows.text(5);
    if (!rows.is_null(6)) request.ask.state = std::string(rows.text(6));
    request.ask.challenge = rows.text(7);
    request.ask.resource = rows.text(8);
    request.ask.peer = rows.text(9);
    request.begun_at_ms = rows.integer(10);
    request.expires_at_ms = rows.integer(11);
    request.decision = decision_of(rows.text(12));
    request.agent_id = rows.text(13);
    request.decided_by = rows.text(14);
    all.requests.push_back(std::move(row));
  }
}

void load_grants(sqlite3* db, SignInRows& all) {
  Statement rows(db,
                 "SELECT grant_id, code_hash, family_hash, client_id, client_name, redirect_host, resource, agent_id, "
                 "accepted_by, begun_at_ms, expires_at_ms, used_at_ms, ended_at_ms, end_reason FROM sign_in_grants");
  while (rows.step()) {
    GrantRow row;
    auto& grant = row.grant;
    grant.grant_id = rows.text(0);
    row.code_hash = rows.text(1);
    row.family_hash = rows.text(2);
    grant.client_id = rows.text(3);
    grant.client_name = rows.text(4);
    grant.redirect_host = rows.text(5);
    grant.resource = rows.text(6);
    grant.agent_id = rows.text(7);
    grant.accepted_by = rows.text(8);
    grant.begun_at_ms = rows.integer(9);
    grant.expires_at_ms = rows.integer(10);
    grant.used_at_ms = rows.integer(11);
    grant.ended_at_ms = rows.integer(12);
    grant.end_reason = rows.text(13);
    all.grants.push_back(std::move(row));
  }
}

void load_tokens(sqlite3* db, SignInRows& all) {
  Statement rows(db, "SELECT token_hash, grant_id, kind, generation, expires_at_ms, used_at_ms FROM sign_in_tokens");
  while (rows.step())
    all.tokens.push_back({std::string(rows.text(0)), std::string(rows.text(1)),
                          rows.text(2) == name_of(TokenKind::kAccess) ? TokenKind::kAccess : TokenKind::kRefresh,
                          rows.integer(3), rows.integer(4), rows.integer(5)});
}

void remove(SQLite::Database& db, std::string_view sql, const std::string& key) {
  Statement(db.getHandle(), sql).bind_all(key).run();
}

}  // namespace

std::string request_id_of(const std::string& handle_hash) {
  constexpr std::size_t digits = 16;
  return "request_" + handle_hash.substr(0, digits);
}

SignInRows load(SQLite::Database& db) {
  SignInRows all;
  load_clients(db.getHandle(), all);
  load_requests(db.getHandle(), all);
  load_grants(db.getHandle(), all);
  load_tokens(db.getHandle(), all);
  return all;
}

void put(SQLite::Database& db, const ClientRow& row) {
  const auto uris = uris_json(row.client.metadata.redirect_uris);
  Statement(db.getHandle(),
            "INSERT INTO sign_in_clients (client_id, name, redirect_uris, registered_at_ms, used_at_ms) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (client_id) DO UPDATE SET used_at_ms = excluded.used_at_ms")
      .bind_all(row.client.client_id, row.client.metadata.name, uris, row.registered_at_ms, row.used_at_ms)
      .run();
}

void put(SQLite::Database& db, const RequestRow& row) {
  const auto& request = row.request;
  const auto& ask = request.ask;
  Statement statement(
      db.getHandle(),
      "INSERT INTO sign_in_requests (handle_hash, code, code_hash, client_id, client_name, redirect_uri, challenge, "
      "resource, peer, begun_at_ms, expires_at_ms, decision, agent_id, decided_by, client_state) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (handle_hash) DO UPDATE SET "
      "expires_at_ms = excluded.expires_at_ms, decision = excluded.decision, agent_id = excluded.agent_id, "
      "decided_by = excluded.decided_by");
  statement.bind_all(row.handle_hash, request.code, row.code_hash, ask.client.client_id, ask.client.metadata.name,
                     ask.redirect_uri, ask.challenge, ask.resource, ask.peer, request.begun_at_ms,
                     request.expires_at_ms, to_string(request.decision), request.agent_id, request.decided_by);
  constexpr int kState = 15;
  ask.state ? statement.bind(kState, *ask.state) : statement.bind(kState, nullptr);
  statement.run();
}

void put(SQLite::Database& db, const GrantRow& row) {
  const auto& grant = row.grant;
  Statement(
      db.getHandle(),
      "INSERT INTO sign_in_grants (grant_id, code_hash, family_hash, client_id, client_name, redirect_host, "
      "resource, agent_id, accepted_by, begun_at_ms, expires_at_ms, used_at_ms, ended_at_ms, end_reason) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (grant_id) DO UPDATE SET "
      "expires_at_ms = excluded.expires_at_ms, ended_at_ms = excluded.ended_at_ms, end_reason = excluded.end_reason")
      .bind_all(grant.grant_id, row.code_hash, row.family_hash, grant.client_id, grant.client_name, grant.redirect_host,
                grant.resource, grant.agent_id, grant.accepted_by, grant.begun_at_ms, grant.expires_at_ms,
                grant.used_at_ms, grant.ended_at_ms, grant.end_reason)
      .run();
}

void put(SQLite::Database& db, const TokenRow& row) {
  Statement(db.getHandle(),
            "INSERT INTO sign_in_tokens (token_hash, grant_id, kind, generation, expires_at_ms, used_at_ms) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (token_hash) DO UPDATE SET used_at_ms = excluded.used_at_ms")
      .bind_all(row.token_hash, row.grant_id, name_of(row.kind), row.generation, row.expires_at_ms, row.used_at_ms)
      .run();
}

void note_use(SQLite::Database& db, const std::string& grant_id, std::int64_t now_ms) {
  Statement(db.getHandle(), "UPDATE sign_in_grants SET used_at_ms = ? WHERE grant_id = ?")
      .bind_all(now_ms, grant_id)
      .run();
}

void remove_client(SQLite::Database& db, const std::string& client_id) {
  remove(db, "DELETE FROM sign_in_clients WHERE client_id = ?", client_id);
}

void remove_request(SQLite::Database& db, const std::string& handle_hash) {
  remove(db, "DELETE FROM sign_in_requests WHERE handle_hash = ?", handle_hash);
}

void remove_token(SQLite::Database& db, const std::string& token_hash) {
  remove(db, "DELETE FROM sign_in_tokens WHERE token_hash = ?", token_hash);
}

void remove_tokens_of(SQLite::Database& db, const std::string& grant_id) {
  remove(db, "DELETE FROM sign_in_tokens WHERE grant_id = ?", grant_id);
}

void remove_grant(SQLite::Database& db, const std::string& grant_id) {
  remove_tokens_of(db, grant_id);
  remove(db, "DELETE FROM sign_in_grants WHERE grant_id = ?", grant_id);
}

}  // namespace krux::sign_in
