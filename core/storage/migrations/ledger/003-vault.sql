-- Connected accounts. A row stays when its account is disconnected, so that the next connection gets a new generation.
CREATE TABLE connections (
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  display_name TEXT NOT NULL,
  principal TEXT NOT NULL,  -- who acts there with the token; may be empty
  scopes_json TEXT NOT NULL,
  scopes_known INTEGER NOT NULL,
  token_origin TEXT NOT NULL,
  connected_at_ms INTEGER NOT NULL,
  attention TEXT NOT NULL DEFAULT '',  -- why the service refuses the token; empty: it does not
  token BLOB,  -- nonce and XChaCha20-Poly1305 ciphertext; NULL: disconnected
  PRIMARY KEY (service, account_id)
) STRICT, WITHOUT ROWID;

-- One row: a known text under the vault's key, by which another key is recognized.
CREATE TABLE vault_key (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  known_text BLOB NOT NULL
) STRICT;
