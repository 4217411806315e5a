-- What a person has approved beforehand, for a while: docs/approvals.md. Nothing here is SQLite's own dialect.
CREATE TABLE IF NOT EXISTS standing_approvals (
  standing_id TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  generation BIGINT NOT NULL,
  operation TEXT NOT NULL,
  reaches TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  write_id TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  granted_at_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  most BIGINT NOT NULL,
  used BIGINT NOT NULL,
  ended_at_ms BIGINT,
  ended_by TEXT
);
CREATE INDEX IF NOT EXISTS standing_approvals_by_agent ON standing_approvals (agent_id, operation, until_ms);
-- The standing approval that a write was let through by; NULL of others.
ALTER TABLE writes ADD COLUMN standing_approval TEXT;
