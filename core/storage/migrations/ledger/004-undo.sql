-- Undoing, editing, limits and approvals. docs/storage-format.md describes every column.
ALTER TABLE writes ADD COLUMN undoes TEXT;                       -- the write_id that this row undoes
ALTER TABLE writes ADD COLUMN undo_ms INTEGER NOT NULL DEFAULT 0;  -- how long after its end it can be undone
ALTER TABLE writes ADD COLUMN target TEXT;
ALTER TABLE writes ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE writes ADD COLUMN approval_reason TEXT;
-- One undo of a write at a time.
CREATE UNIQUE INDEX writes_undoing ON writes (undoes) WHERE undoes IS NOT NULL AND ended_at_ms IS NULL;
CREATE INDEX writes_with_point ON writes (ended_at_ms + undo_ms) WHERE point_json IS NOT NULL;
CREATE INDEX writes_limited ON writes (agent_id, operation, seq)
  WHERE limited = 1 AND state NOT IN ('cancelled', 'rejected');

CREATE TABLE edits (
  id INTEGER PRIMARY KEY,
  write_seq INTEGER NOT NULL REFERENCES writes (seq),
  edited_at_ms INTEGER NOT NULL,
  who TEXT NOT NULL,
  from_hash TEXT NOT NULL,
  to_hash TEXT NOT NULL,
  from_json TEXT NOT NULL,  -- with names resolved: what is sent
  to_json TEXT NOT NULL
) STRICT;
CREATE INDEX edits_of_write ON edits (write_seq);
-- An agent that repeats what it asked for first is answered with the write that was made of it.
CREATE INDEX edits_by_hash ON edits (from_hash);
