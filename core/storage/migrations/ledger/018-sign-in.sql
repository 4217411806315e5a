-- Hosts that sign in instead of sending a key. Of handles, codes and tokens only the SHA-256 is stored. Nothing here is
-- SQLite's own dialect. docs/sign-in.md says what happens to a row when.
CREATE TABLE sign_in_clients (  -- that have registered; others are known by their documents
  client_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,  -- a JSON array
  registered_at_ms BIGINT NOT NULL,
  used_at_ms BIGINT NOT NULL  -- 0: no grant was given to it yet
);

CREATE TABLE sign_in_requests (
  handle_hash TEXT NOT NULL PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,  -- for people
  code_hash TEXT NOT NULL UNIQUE,  -- of the authorization code
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  client_state TEXT,  -- NULL: the client gave none
  challenge TEXT NOT NULL,
  resource TEXT NOT NULL,
  peer TEXT NOT NULL,
  begun_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT NOT NULL,
  decision TEXT NOT NULL CHECK (decision IN ('waiting', 'accepted', 'rejected')),
  agent_id TEXT NOT NULL,
  decided_by TEXT NOT NULL
);

CREATE TABLE sign_in_grants (
  grant_id TEXT NOT NULL PRIMARY KEY,
  code_hash TEXT NOT NULL UNIQUE,  -- of the authorization code that it came from
  family_hash TEXT NOT NULL UNIQUE,  -- of what all its refresh tokens have in common
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  redirect_host TEXT NOT NULL,
  resource TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  accepted_by TEXT NOT NULL,
  begun_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT NOT NULL,  -- unless it is refreshed before
  used_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL,  -- 0: it goes on
  end_reason TEXT NOT NULL
);

CREATE TABLE sign_in_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES sign_in_grants (grant_id),
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  generation BIGINT NOT NULL,  -- one higher with each refresh
  expires_at_ms BIGINT NOT NULL,
  used_at_ms BIGINT NOT NULL,  -- of an access token: its first use, 0: none; of a refresh token: when it was replaced
  CHECK (generation > 0)
);
CREATE INDEX sign_in_tokens_of_grant ON sign_in_tokens (grant_id);
