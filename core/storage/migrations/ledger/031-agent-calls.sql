-- When agents have called what rules ask about ("after", docs/policies.md): of each capability the last calls, each in
-- the place that its number modulo so many gives it. Nothing here is SQLite's own dialect.
CREATE TABLE IF NOT EXISTS agent_calls (
  agent_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  place BIGINT NOT NULL,
  number BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  PRIMARY KEY (agent_id, capability, place)
);
