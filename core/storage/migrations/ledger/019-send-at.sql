-- The time that an agent asked for. docs/storage-format.md describes it.
ALTER TABLE writes ADD COLUMN send_at_ms INTEGER;
-- Limits count what is scheduled when it is asked for and when it goes out.
CREATE INDEX writes_scheduled ON writes (agent_id, counted_as, send_at_ms) WHERE send_at_ms IS NOT NULL;
