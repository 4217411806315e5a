-- The effect ledger. docs/storage-format.md describes every column.
CREATE TABLE writes (
  seq INTEGER PRIMARY KEY,  -- the first bits of write_id: no index is needed to find a write by its id
  write_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending_approval', 'held', 'buffered', 'executing', 'unknown', 'dead_letter',
                                       'completed', 'failed', 'cancelled', 'rejected', 'rolled_back', 'discarded')),
  closed INTEGER NOT NULL DEFAULT 0,
  told_person INTEGER NOT NULL DEFAULT 0,
  due_at_ms INTEGER,    -- wall clock; NULL: the host does nothing by itself
  due_boot_ms INTEGER,  -- the same moment on the clock of the boot numbered `boot`
  boot INTEGER REFERENCES boots (boot),
  owner_epoch INTEGER,  -- the run of the host that claimed it last
  attempts INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  looks INTEGER NOT NULL DEFAULT 0,
  immediate INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  buffer_until_ms INTEGER,
  delay_ms INTEGER NOT NULL,
  settle_ms INTEGER NOT NULL,
  first_attempt_at_ms INTEGER,
  unknown_since_ms INTEGER,
  ended_at_ms INTEGER,
  agent_id TEXT NOT NULL,
  service TEXT NOT NULL,
  account_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  operation TEXT NOT NULL,
  intent INTEGER NOT NULL,  -- the first 64 bits of content_hash: a short key to find duplicates by
  content_hash TEXT NOT NULL,
  idempotency_key TEXT,
  tier TEXT NOT NULL,
  definition_version TEXT NOT NULL,
  when_absent TEXT NOT NULL,
  summary TEXT NOT NULL,
  params_json TEXT NOT NULL,
  params_shown_json TEXT,  -- NULL: as params_json
  note_json TEXT,
  point_json TEXT,
  result_json TEXT,
  error_type TEXT,
  error_message TEXT,
  decided_by TEXT
) STRICT;
CREATE UNIQUE INDEX writes_by_key ON writes (agent_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX writes_by_intent ON writes (intent);
-- Looks and attempts apart: many of the one must not hide the other.
CREATE INDEX writes_due ON writes (service, account_id, generation, (state = 'unknown'), due_at_ms, due_boot_ms, boot)
  WHERE due_at_ms IS NOT NULL;
-- A new write is buffered: it stands in writes_due, and each page less that an admission touches makes its commit cheaper.
CREATE INDEX writes_by_state ON writes (state, agent_id) WHERE state <> 'buffered';
CREATE INDEX writes_for_person ON writes (told_person) WHERE told_person = 1;

CREATE TABLE attempts (
  id INTEGER PRIMARY KEY,
  write_seq INTEGER NOT NULL REFERENCES writes (seq),
  kind TEXT NOT NULL CHECK (kind IN ('attempt', 'look', 'decision')),
  number INTEGER NOT NULL,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  outcome TEXT,
  wire TEXT,
  message TEXT,
  who TEXT NOT NULL
) STRICT;
CREATE INDEX attempts_of_write ON attempts (write_seq);

-- One row a state, one for those that wait for a person, and the group commit's own: together, since each admission
-- writes both.
CREATE TABLE counters (what TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counters (what, n) VALUES
  ('pending_approval', 0), ('held', 0), ('buffered', 0), ('executing', 0), ('unknown', 0), ('dead_letter', 0),
  ('completed', 0), ('failed', 0), ('cancelled', 0), ('rejected', 0), ('rolled_back', 0), ('discarded', 0),
  ('needs_person', 0);
CREATE TRIGGER count_new_write AFTER INSERT ON writes BEGIN
  UPDATE counters SET n = n + 1 WHERE what = NEW.state;
END;
CREATE TRIGGER count_changed_write AFTER UPDATE OF state ON writes WHEN OLD.state <> NEW.state BEGIN
  UPDATE counters SET n = n - 1 WHERE what = OLD.state;
  UPDATE counters SET n = n + 1 WHERE what = NEW.state;
END;
CREATE TRIGGER count_told_write AFTER UPDATE OF told_person ON writes WHEN OLD.told_person <> NEW.told_person BEGIN
  UPDATE counters SET n = n + NEW.told_person - OLD.told_person WHERE what = 'needs_person';
END;

-- Each boot of the machine that the host has seen: due_boot_ms is on the clock of one of them.
CREATE TABLE boots (boot INTEGER PRIMARY KEY, boot_id TEXT NOT NULL UNIQUE) STRICT;
-- One row: the present run of the host.
CREATE TABLE owner (only INTEGER PRIMARY KEY CHECK (only = 1), epoch INTEGER NOT NULL) STRICT;
INSERT INTO owner (only, epoch) VALUES (1, 0);

CREATE TABLE alerts (
  id INTEGER PRIMARY KEY,
  raised_at_ms INTEGER NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  kind TEXT NOT NULL,
  service TEXT NOT NULL DEFAULT '',
  account_id TEXT NOT NULL DEFAULT '',
  write_id TEXT,
  message TEXT NOT NULL,
  acknowledged_at_ms INTEGER,
  acknowledged_by TEXT
) STRICT;
CREATE INDEX alerts_open ON alerts (kind, service, account_id) WHERE acknowledged_at_ms IS NULL;
CREATE INDEX alerts_of_write ON alerts (write_id) WHERE write_id IS NOT NULL AND acknowledged_at_ms IS NULL;
