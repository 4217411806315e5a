-- What each admission, claim and outcome costs. docs/storage-format.md describes every column.
-- A list in a CHECK is a table that SQLite builds anew for each statement: these compare, the most frequent first. What
-- triggers did for the counters the ledger does itself: a statement with triggers keeps a copy of each page it changes.
CREATE TABLE new_writes (
  seq INTEGER PRIMARY KEY,  -- the first bits of write_id: no index is needed to find a write by its id
  write_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (
    state = 'buffered' OR state = 'executing' OR state = 'completed' OR state = 'pending_approval' OR state = 'held' OR
    state = 'unknown' OR state = 'dead_letter' OR state = 'failed' OR state = 'cancelled' OR state = 'rejected' OR
    state = 'rolled_back' OR state = 'discarded'),
  irrevocable INTEGER NOT NULL DEFAULT 0,
  escalated INTEGER NOT NULL DEFAULT 0,
  held_as_copy INTEGER NOT NULL DEFAULT 0,
  reconcile_first INTEGER NOT NULL DEFAULT 0,
  release_wanted INTEGER NOT NULL DEFAULT 0,
  due_at_ms INTEGER,    -- wall clock; NULL: the host does nothing by itself
  due_boot_ms INTEGER,  -- the same moment on the clock of the boot numbered `boot`
  boot INTEGER,         -- of table boots
  owner_epoch INTEGER,  -- the run of the host that claimed it last
  claimed_at_ms INTEGER,  -- when the attempt under way, or the last one, began
  attempts INTEGER NOT NULL DEFAULT 0,
  begun_attempt INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  looks INTEGER NOT NULL DEFAULT 0,
  waits_for_connection INTEGER NOT NULL DEFAULT 0,
  waits_in_line INTEGER NOT NULL DEFAULT 0,
  out_of_order INTEGER NOT NULL DEFAULT 0,
  immediate INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  buffer_until_ms INTEGER,
  delay_ms INTEGER NOT NULL,
  settle_ms INTEGER NOT NULL,
  rollback_ms INTEGER NOT NULL DEFAULT 0,
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
  cleanup TEXT NOT NULL DEFAULT 'none' CHECK (
    cleanup = 'none' OR cleanup = 'possible' OR cleanup = 'pending' OR cleanup = 'done' OR cleanup = 'left'),
  summary TEXT NOT NULL,
  params_json TEXT NOT NULL,
  params_shown_json TEXT,  -- NULL: as params_json
  note_json TEXT,
  point_json TEXT,
  result_json TEXT,
  error_type TEXT,
  error_message TEXT,
  decided_by TEXT,
  rolls_back TEXT,  -- the write_id that this row undoes
  cleans TEXT,      -- the write_id whose leavings this row takes away
  target TEXT,
  counted_as TEXT,    -- for which operation's limits it counts; NULL: for none
  ordering_key TEXT,  -- NULL: in no order
  approval_reason TEXT,
  evidence TEXT CHECK (evidence IS NULL OR evidence = 'found' OR evidence = 'absent' OR evidence = 'cannot_tell'),
  evidence_json TEXT,
  evidence_at_ms INTEGER,
  needs_operator INTEGER GENERATED ALWAYS AS
    (escalated = 1 OR (held_as_copy = 1 AND release_wanted = 0) OR state = 'pending_approval') VIRTUAL
) STRICT;
INSERT INTO new_writes (
  seq, write_id, state, irrevocable, escalated, held_as_copy, reconcile_first, release_wanted, due_at_ms, due_boot_ms,
  boot, owner_epoch, claimed_at_ms, attempts, begun_attempt, tries, looks, waits_for_connection, waits_in_line,
  out_of_order, immediate, created_at_ms, buffer_until_ms, delay_ms, settle_ms, rollback_ms, first_attempt_at_ms,
  unknown_since_ms, ended_at_ms, agent_id, service, account_id, generation, operation, intent, content_hash,
  idempotency_key, tier, definition_version, when_absent, cleanup, summary, params_json, params_shown_json, note_json,
  point_json, result_json, error_type, error_message, decided_by, rolls_back, cleans, target, counted_as, ordering_key,
  approval_reason, evidence, evidence_json, evidence_at_ms)
SELECT
  seq, write_id, state, irrevocable, escalated, held_as_copy, reconcile_first, release_wanted, due_at_ms, due_boot_ms,
  boot, owner_epoch,
  CASE WHEN state = 'executing' THEN (SELECT max(started_at_ms) FROM attempts
                                      WHERE write_seq = seq AND kind = 'attempt' AND ended_at_ms IS NULL) END,
  attempts, begun_attempt, tries, looks, waits_for_connection, waits_in_line,
  out_of_order, immediate, created_at_ms, buffer_until_ms, delay_ms, settle_ms, rollback_ms, first_attempt_at_ms,
  unknown_since_ms, ended_at_ms, agent_id, service, account_id, generation, operation, intent, content_hash,
  idempotency_key, tier, definition_version, when_absent, cleanup, summary, params_json, params_shown_json, note_json,
  point_json, result_json, error_type, error_message, decided_by, rolls_back, cleans, target, counted_as, ordering_key,
  approval_reason, evidence, evidence_json, evidence_at_ms
FROM writes ORDER BY seq;

-- A write's history lies together, without an index of its own. What is under way stands in the write's row alone.
CREATE TABLE new_attempts (
  write_seq INTEGER NOT NULL REFERENCES writes (seq),
  nth INTEGER NOT NULL,  -- of the write, from 1 on
  kind TEXT NOT NULL CHECK (kind = 'attempt' OR kind = 'look' OR kind = 'decision'),
  number INTEGER NOT NULL,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  wire TEXT,
  message TEXT,
  who TEXT NOT NULL,
  PRIMARY KEY (write_seq, nth)
) STRICT, WITHOUT ROWID;
INSERT INTO new_attempts (write_seq, nth, kind, number, started_at_ms, ended_at_ms, outcome, wire, message, who)
SELECT write_seq, row_number() OVER (PARTITION BY write_seq ORDER BY id), kind, number, started_at_ms, ended_at_ms,
       coalesce(outcome, ''), wire, message, who
FROM attempts WHERE ended_at_ms IS NOT NULL;

DROP TABLE attempts;
DROP TABLE writes;
ALTER TABLE new_writes RENAME TO writes;
ALTER TABLE new_attempts RENAME TO attempts;

CREATE UNIQUE INDEX writes_by_key ON writes (agent_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX writes_by_intent ON writes (intent);
-- Looks and attempts apart: many of the one must not hide the other. What is to be looked for first stands with the
-- looks: nothing of it is claimed.
CREATE INDEX writes_due ON writes (service, account_id, generation, (state = 'unknown' OR reconcile_first = 1),
                                   due_at_ms, due_boot_ms, boot) WHERE due_at_ms IS NOT NULL;
-- A new write is buffered: it stands in writes_due, and each page less that an admission touches makes its commit cheaper.
CREATE INDEX writes_by_state ON writes (state, agent_id) WHERE state <> 'buffered';
CREATE INDEX writes_need_operator ON writes (seq) WHERE needs_operator = 1;
CREATE INDEX writes_held_as_copy ON writes (seq) WHERE held_as_copy = 1;
CREATE INDEX writes_counted ON writes (agent_id, counted_as, seq)
  WHERE counted_as IS NOT NULL AND state NOT IN ('cancelled', 'rejected');
CREATE INDEX writes_in_line ON writes (ordering_key, buffer_until_ms, seq)
  WHERE ordering_key IS NOT NULL AND ended_at_ms IS NULL;
CREATE INDEX writes_with_point ON writes (ended_at_ms + rollback_ms) WHERE point_json IS NOT NULL;
-- One rollback of a write at a time.
CREATE UNIQUE INDEX writes_rolling_back ON writes (rolls_back) WHERE rolls_back IS NOT NULL AND ended_at_ms IS NULL;
CREATE UNIQUE INDEX writes_cleaning ON writes (cleans) WHERE cleans IS NOT NULL;
