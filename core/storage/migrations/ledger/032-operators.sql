-- Operators, each by his name and a passphrase of his own, and who of them has accepted which write. docs/storage-format.md
-- describes every column. Nothing here is SQLite's own dialect.
CREATE TABLE IF NOT EXISTS operators (
  operator_id TEXT NOT NULL PRIMARY KEY,  -- one who is added again under the same name is somebody else
  name TEXT NOT NULL UNIQUE,              -- '': the operator of before, until the host gives him one
  verifier TEXT NOT NULL,                 -- of Argon2id, as libsodium writes it
  set_at_ms BIGINT NOT NULL,
  added_at_ms BIGINT NOT NULL,
  added_by TEXT NOT NULL
);
INSERT INTO operators (operator_id, name, verifier, set_at_ms, added_at_ms, added_by)
SELECT 'op_first', '', verifier, set_at_ms, set_at_ms, '' FROM operator_secret
WHERE set_at_ms > 0 AND NOT EXISTS (SELECT 1 FROM operators);
-- What is left of it says how the data directory began.
UPDATE operator_secret SET verifier = '', set_at_ms = 0;
CREATE TABLE IF NOT EXISTS acceptances (
  write_seq BIGINT NOT NULL,
  operator_id TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  accepted_at_ms BIGINT NOT NULL,
  PRIMARY KEY (write_seq, operator_id)
);
-- How many different operators must accept it; NULL: one.
ALTER TABLE writes ADD COLUMN approvals_needed INTEGER;
