-- Agents' sessions, and what was done in them. docs/storage-format.md describes every column. Nothing here is SQLite's
-- own dialect.
CREATE TABLE sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('agent', 'mcp', 'day')),
  name TEXT NOT NULL,
  purpose TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  used_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL,  -- 0: it goes on
  after_seq BIGINT NOT NULL     -- the newest write when it began: all of its writes come behind it
);
CREATE INDEX sessions_of_agent ON sessions (agent_id, used_at_ms);
CREATE INDEX sessions_ended ON sessions (ended_at_ms);
-- In which session it was asked for. Without an index, which each admission would pay for: a session's writes are those
-- of its agent behind sessions.after_seq.
ALTER TABLE writes ADD COLUMN session_id TEXT;
-- Whose words an alert is (kind agent_message), or whose write it is about.
ALTER TABLE alerts ADD COLUMN agent_id TEXT;
CREATE INDEX alerts_of_agent ON alerts (agent_id, id) WHERE agent_id IS NOT NULL;
-- Since when the agent has its present key; 0: not known.
ALTER TABLE agents ADD COLUMN key_since_ms INTEGER NOT NULL DEFAULT 0;
