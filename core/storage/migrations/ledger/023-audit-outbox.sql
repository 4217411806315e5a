-- What the audit log has to learn of writes, in the transaction of what it tells of; docs/audit.md. Rows go once they are
-- chained, but for the last one, by which numbers go on. Nothing here is SQLite's own dialect.
CREATE TABLE audit_outbox (
  seq BIGINT NOT NULL PRIMARY KEY,  -- from 1, without gaps
  at_ms BIGINT NOT NULL,
  kind TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  write_id TEXT NOT NULL,
  body TEXT NOT NULL  -- one JSON object
);
-- How far the log was when rows were taken out last: what is cut off its end shows.
CREATE TABLE audit_head (
  one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
  seq BIGINT NOT NULL,
  hash TEXT NOT NULL
);
