-- How the vault's key is kept: in a file, or made from a passphrase. The columns of Argon2id are NULL with a file.
ALTER TABLE vault_key ADD COLUMN mode TEXT NOT NULL DEFAULT 'key_file' CHECK (mode IN ('key_file', 'passphrase'));
ALTER TABLE vault_key ADD COLUMN made_at_ms INTEGER NOT NULL DEFAULT 0;  -- 0: before this was noted
ALTER TABLE vault_key ADD COLUMN salt BLOB;
ALTER TABLE vault_key ADD COLUMN passes INTEGER;
ALTER TABLE vault_key ADD COLUMN memory_bytes INTEGER;
-- A known text under the key of the file that a passphrase has replaced, for as long as that file may still be there.
ALTER TABLE vault_key ADD COLUMN replaced_known_text BLOB;

-- One row a disconnection of an account: its receipt, kept for good. At most one of an account is under way.
CREATE TABLE receipts (
  receipt_id TEXT NOT NULL PRIMARY KEY,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  display_name TEXT NOT NULL,
  principal TEXT NOT NULL,
  who TEXT NOT NULL,
  forced INTEGER NOT NULL,
  begun_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,  -- NULL: under way
  outcome TEXT NOT NULL DEFAULT 'under_way' CHECK (outcome IN ('under_way', 'disconnected', 'stopped')),
  message TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX receipts_under_way ON receipts (service, account_id) WHERE ended_at_ms IS NULL;

CREATE TABLE receipt_steps (
  receipt_id TEXT NOT NULL REFERENCES receipts (receipt_id),
  step TEXT NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (receipt_id, step)
) STRICT, WITHOUT ROWID;

-- The writes that had not ended, each with its state before; what became of it stands in the ledger.
CREATE TABLE receipt_writes (
  receipt_id TEXT NOT NULL REFERENCES receipts (receipt_id),
  write_seq INTEGER NOT NULL REFERENCES writes (seq),
  was TEXT NOT NULL,
  PRIMARY KEY (receipt_id, write_seq)
) STRICT, WITHOUT ROWID;
