-- Receipts that are old enough to go, whoever's they are: found without a look at all. Nothing here is SQLite's own dialect.
CREATE INDEX IF NOT EXISTS state_receipts_time ON state_receipts (at_ms);
