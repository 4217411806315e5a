-- Taking away what attempts have left, and marks that spare questions. docs/storage-format.md describes every column.
ALTER TABLE writes ADD COLUMN cleanup TEXT NOT NULL DEFAULT 'none'
  CHECK (cleanup IN ('none', 'possible', 'pending', 'done', 'left'));
ALTER TABLE writes ADD COLUMN cleans TEXT;  -- the write_id whose leavings this row takes away
-- The last attempt whose call into the adapter may have begun. Of those under way nobody noted it before.
ALTER TABLE writes ADD COLUMN begun_attempt INTEGER NOT NULL DEFAULT 0;
UPDATE writes SET begun_attempt = attempts WHERE state = 'executing' AND state <> 'buffered';
ALTER TABLE writes ADD COLUMN waits_for_connection INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX writes_cleaning ON writes (cleans) WHERE cleans IS NOT NULL;
