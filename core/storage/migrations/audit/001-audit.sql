-- The audit log; docs/audit.md says what a row's hash is made of.
CREATE TABLE log (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  log_id TEXT NOT NULL,
  source INTEGER NOT NULL,  -- the last row of the ledger's outbox that is chained
  head_seq INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  key TEXT NOT NULL  -- the public key of the signatures from here on; empty: there are none
) STRICT;
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  source INTEGER NOT NULL,
  kind TEXT NOT NULL,
  agent_id TEXT,
  service TEXT,
  account_id TEXT,
  write_id TEXT,
  body TEXT NOT NULL,
  prev BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE INDEX entries_of_write ON entries (write_id) WHERE write_id IS NOT NULL;
