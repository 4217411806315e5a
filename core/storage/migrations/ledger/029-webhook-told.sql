-- What the outgoing webhook has told of and is still open: docs/webhook.md. Nothing here is SQLite's own dialect.
-- kind: 'write' (number is its seq) or 'alert' (number is its id).
CREATE TABLE IF NOT EXISTS webhook_told (
  kind TEXT NOT NULL,
  number BIGINT NOT NULL,
  told_at_ms BIGINT NOT NULL,
  PRIMARY KEY (kind, number)
);
