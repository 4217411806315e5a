-- Agents and their keys. Only the SHA-256 of a key is stored. A name is never given to a second agent.
CREATE TABLE agents (
  agent_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  key_hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  last_seen_ms INTEGER NOT NULL DEFAULT 0,
  revoked_at_ms INTEGER NOT NULL DEFAULT 0  -- 0: not revoked
) STRICT, WITHOUT ROWID;
