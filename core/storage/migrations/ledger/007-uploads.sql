-- What agents gave to the host for writes to carry. The bytes are files beside the ledger, named by the id.
CREATE TABLE uploads (
  upload_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,  -- hexadecimal
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX uploads_of_agent ON uploads (agent_id, sha256);
