-- For which operation's limits a write counts: usually its own. NULL: for none.
ALTER TABLE writes ADD COLUMN counted_as TEXT;
UPDATE writes SET counted_as = operation WHERE limited = 1;
DROP INDEX writes_limited;
ALTER TABLE writes DROP COLUMN limited;
CREATE INDEX writes_counted ON writes (agent_id, counted_as, seq)
  WHERE counted_as IS NOT NULL AND state NOT IN ('cancelled', 'rejected');
