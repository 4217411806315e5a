-- What agents have read lately that can be told apart from all else (addresses, links, codes), by hashes; rules ask for
-- it (docs/policies.md). The rows with value_hash 0 and 1 say that the agent has read anything, and that more was read
-- than is kept. Nothing here is SQLite's own dialect.
CREATE TABLE agent_reads (
  agent_id TEXT NOT NULL,
  value_hash BIGINT NOT NULL,
  first_ms BIGINT NOT NULL,
  last_ms BIGINT NOT NULL,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (agent_id, value_hash)
);
CREATE INDEX agent_reads_by_age ON agent_reads (last_ms);
