// The rows of sign-in. Internal to core/sign_in.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

#include "core/sign_in/sign_in.hpp"

namespace krux::sign_in {

struct ClientRow {
  SignInClient client;
  std::int64_t registered_at_ms = 0, used_at_ms = 0;
};

/// Of its handle, which cannot be found by it.
std::string request_id_of(const std::string& handle_hash);

struct RequestRow {
  std::string handle_hash, code_hash;
  SignInRequest request;
};

struct GrantRow {
  SignInGrant grant;
  std::string code_hash, family_hash;
};

enum class TokenKind { kAccess, kRefresh };

struct TokenRow {
  std::string token_hash, grant_id;
  TokenKind kind = TokenKind::kAccess;
  std::int64_t generation = 1;
  std::int64_t expires_at_ms = 0;
  std::int64_t used_at_ms = 0;  ///< of a refresh token: when another one was put into its place
};

struct SignInRows {
  std::vector<ClientRow> clients;
  std::vector<RequestRow> requests;
  std::vector<GrantRow> grants;
  std::vector<TokenRow> tokens;
};

SignInRows load(SQLite::Database& db);

// Each replaces what may change in the row of the same key.
void put(SQLite::Database& db, const ClientRow& row);
void put(SQLite::Database& db, const RequestRow& row);
void put(SQLite::Database& db, const GrantRow& row);
void put(SQLite::Database& db, const TokenRow& row);
void note_use(SQLite::Database& db, const std::string& grant_id, std::int64_t now_ms);

void remove_client(SQLite::Database& db, const std::string& client_id);
void remove_request(SQLite::Database& db, const std::string& handle_hash);
void remove_token(SQLite::Database& db, const std::string& token_hash);
void remove_tokens_of(SQLite::Database& db, const std::string& grant_id);
void remove_grant(SQLite::Database& db, const std::string& grant_id);  ///< with its tokens

}  // namespace krux::sign_in
