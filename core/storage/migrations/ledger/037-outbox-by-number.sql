-- The outbox's rows lie by their number itself: with an index of its own beside them each commit wrote one more page, and
-- the host's answer to a write waits for that. INTEGER, not BIGINT, makes SQLite do so; where INTEGER has 32 bits it is BIGINT.
DROP TABLE IF EXISTS new_audit_outbox;
CREATE TABLE new_audit_outbox (
  seq INTEGER NOT NULL PRIMARY KEY,  -- from 1, without gaps
  at_ms BIGINT NOT NULL,
  kind TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  write_id TEXT NOT NULL,
  body TEXT NOT NULL
);
INSERT INTO new_audit_outbox (seq, at_ms, kind, agent_id, service, account_id, write_id, body)
  SELECT seq, at_ms, kind, agent_id, service, account_id, write_id, body FROM audit_outbox;
DROP TABLE audit_outbox;
ALTER TABLE new_audit_outbox RENAME TO audit_outbox;
