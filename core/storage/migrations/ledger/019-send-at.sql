-- The time that an agent asked for. docs/storage-format.md describes it.
ALTER TABLE writes ADD COLUMN send_at_ms INTEGER;
-- Limits count what is scheduled when it is asked for and when it goes out.
CREATE INDEX writes_scheduled ON writes (agent_id, counted_as, send_at_ms) WHERE send_at_ms IS NOT NULL;
-- 1: a person has decided about it since its agent was revoked.
ALTER TABLE writes ADD COLUMN decided_since_revoked INTEGER NOT NULL DEFAULT 0;
UPDATE writes SET decided_since_revoked = 1 WHERE ended_at_ms IS NULL AND EXISTS (SELECT 1 FROM attempts JOIN agents ON
  agents.agent_id = writes.agent_id WHERE attempts.write_seq = writes.seq AND kind = 'decision' AND who LIKE 'operator:%' AND
  revoked_at_ms > 0 AND started_at_ms >= revoked_at_ms);
