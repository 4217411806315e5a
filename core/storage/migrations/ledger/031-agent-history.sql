-- What agents have done lately that rules ask about (docs/policies.md). Nothing here is SQLite's own dialect.
-- Of each capability the last calls, each in the place that its number modulo so many gives it.
CREATE TABLE IF NOT EXISTS agent_calls (
  agent_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  place BIGINT NOT NULL,
  number BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  PRIMARY KEY (agent_id, capability, place)
);
-- Of each read hashes of every eight words in a row; runs is empty where they are not kept any more.
CREATE TABLE IF NOT EXISTS agent_words (
  agent_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  first_ms BIGINT NOT NULL,
  last_ms BIGINT NOT NULL,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  target TEXT NOT NULL,
  runs TEXT NOT NULL,
  PRIMARY KEY (agent_id, number)
);
