-- Writes that go out one after the other. docs/storage-format.md describes every column.
ALTER TABLE writes ADD COLUMN lane TEXT;                                -- NULL: in no order
ALTER TABLE writes ADD COLUMN waits_in_line INTEGER NOT NULL DEFAULT 0;  -- its turn was put off: due_at_ms is when it goes all the same
ALTER TABLE writes ADD COLUMN out_of_order INTEGER NOT NULL DEFAULT 0;
CREATE INDEX writes_in_line ON writes (lane, buffer_until_ms, seq) WHERE lane IS NOT NULL AND ended_at_ms IS NULL;
