-- What agents keep for themselves and share with each other; docs/storage-format.md describes every column. Nothing here is
-- SQLite's own dialect.
CREATE TABLE IF NOT EXISTS state_spaces (
  owner TEXT NOT NULL PRIMARY KEY,  -- an agent's id; '': what agents share
  entries BIGINT NOT NULL,
  bytes BIGINT NOT NULL,            -- of keys and values, with the versions before them
  floor BIGINT NOT NULL             -- the highest version that was deleted: a key that is new begins above it
);
CREATE TABLE IF NOT EXISTS state_entries (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  value TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  set_by TEXT NOT NULL,
  set_at_ms BIGINT NOT NULL,
  PRIMARY KEY (owner, name)
);
CREATE INDEX IF NOT EXISTS state_entries_age ON state_entries (owner, set_at_ms);
CREATE TABLE IF NOT EXISTS state_versions (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  value TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  set_by TEXT NOT NULL,
  set_at_ms BIGINT NOT NULL,
  PRIMARY KEY (owner, name, version)
);
CREATE INDEX IF NOT EXISTS state_versions_age ON state_versions (owner, set_at_ms);
-- What was answered to a call with an idempotency_key, so that the same call again is answered with it.
CREATE TABLE IF NOT EXISTS state_receipts (
  agent_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  version BIGINT NOT NULL,  -- 0: there was nothing to delete
  at_ms BIGINT NOT NULL,
  PRIMARY KEY (agent_id, idempotency_key)
);
CREATE INDEX IF NOT EXISTS state_receipts_age ON state_receipts (agent_id, at_ms);
