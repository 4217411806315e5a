-- Since when a write counts for limits: see docs/storage-format.md. What will never happen counts for none, so that the
-- index need not know of states: neither a claim nor an outcome touches it.
DROP INDEX writes_counted;
ALTER TABLE writes ADD COLUMN counted_at_ms INTEGER;
UPDATE writes SET
  counted_as = CASE WHEN state IN ('cancelled', 'rejected') THEN NULL ELSE counted_as END,
  counted_at_ms = coalesce((SELECT max(edited_at_ms) FROM edits WHERE write_seq = seq), created_at_ms)
WHERE counted_as IS NOT NULL;
CREATE INDEX writes_counted ON writes (agent_id, counted_as, counted_at_ms) WHERE counted_as IS NOT NULL;
