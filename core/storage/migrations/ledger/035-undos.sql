-- The undos of a write, ended ones too, and transactions that are old enough to go: neither is searched for through all
-- there ever were. Nothing here is SQLite's own dialect.
CREATE INDEX IF NOT EXISTS writes_undos ON writes (rolls_back, seq) WHERE rolls_back IS NOT NULL;
CREATE INDEX IF NOT EXISTS transactions_ended ON transactions (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
