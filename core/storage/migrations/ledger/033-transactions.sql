-- Writes of an agent that are carried out all, or none. docs/storage-format.md describes every column. Nothing here is
-- SQLite's own dialect.
CREATE TABLE IF NOT EXISTS transactions (
  transaction_id TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'committed', 'undoing', 'undone')),
  reason TEXT NOT NULL DEFAULT '',  -- why it was undone, a sentence
  begun_at_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,         -- undone by itself unless committed before
  ended_at_ms BIGINT
);
CREATE INDEX IF NOT EXISTS transactions_open ON transactions (state) WHERE state = 'open' OR state = 'undoing';
CREATE TABLE IF NOT EXISTS transaction_writes (
  transaction_id TEXT NOT NULL,
  write_seq BIGINT NOT NULL,
  stays_because TEXT NOT NULL DEFAULT '',  -- why it was not undone, a sentence
  PRIMARY KEY (transaction_id, write_seq)
);
