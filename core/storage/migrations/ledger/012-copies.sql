-- Copies of a data directory: what is held in them, and by what a start knows one. docs/storage-format.md describes
-- every column.
ALTER TABLE writes ADD COLUMN copied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE writes ADD COLUMN look_first INTEGER NOT NULL DEFAULT 0;
ALTER TABLE writes ADD COLUMN evidence TEXT CHECK (evidence IN ('found', 'absent', 'cannot_tell'));
ALTER TABLE writes ADD COLUMN evidence_json TEXT;
ALTER TABLE writes ADD COLUMN evidence_at_ms INTEGER;
-- What is to be looked for first stands with the looks: nothing of it is claimed.
DROP INDEX writes_due;
CREATE INDEX writes_due ON writes (service, account_id, generation, (state = 'unknown' OR look_first = 1), due_at_ms,
                                   due_boot_ms, boot) WHERE due_at_ms IS NOT NULL;
CREATE INDEX writes_copied ON writes (seq) WHERE copied = 1;
INSERT INTO counters (what, n) VALUES ('copied', 0);
CREATE TRIGGER count_copied_write AFTER UPDATE OF copied ON writes WHEN OLD.copied <> NEW.copied BEGIN
  UPDATE counters SET n = n + NEW.copied - OLD.copied WHERE what = 'copied';
END;

-- One row: whose ledger this is, and where it was when it was written last.
CREATE TABLE place (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  ledger_id TEXT NOT NULL,                  -- also in the file `identity`, and the name of the counter outside
  counter INTEGER NOT NULL,                 -- as outside; 0: there is none yet
  next_counter INTEGER NOT NULL,            -- what the counter is about to become
  machine TEXT NOT NULL DEFAULT '',         -- a hash of the machine's id
  boot_id TEXT NOT NULL DEFAULT '',         -- within which `device` is the same
  device INTEGER NOT NULL DEFAULT 0,
  filesystem INTEGER NOT NULL DEFAULT 0,
  file_inode INTEGER NOT NULL DEFAULT 0,    -- 0: no place was noted yet
  directory_inode INTEGER NOT NULL DEFAULT 0,
  hold_reason TEXT                          -- the next start holds everything, whatever else is as it was
) STRICT;
