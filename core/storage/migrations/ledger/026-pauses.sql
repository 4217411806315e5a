-- Agents that an operator has paused; docs/storage-format.md describes every column. Nothing here is SQLite's own dialect.
CREATE TABLE IF NOT EXISTS agent_pauses (
  agent_id TEXT NOT NULL PRIMARY KEY,  -- '': all agents, also those that are made later
  paused_at_ms BIGINT NOT NULL,
  paused_by TEXT NOT NULL,
  reason TEXT NOT NULL
);
-- What a pause holds stands by agent, so that whoever takes what is due passes a paused agent's writes in one step, however
-- many there are. Looks, cleanups and the undos that a person ordered are held by no pause: they stand under ''.
DROP INDEX IF EXISTS writes_due;
CREATE INDEX IF NOT EXISTS writes_due ON writes (
  service, account_id, generation, (state = 'unknown' OR reconcile_first = 1),
  (CASE WHEN state = 'unknown' OR reconcile_first = 1 OR cleans IS NOT NULL
          OR (rolls_back IS NOT NULL AND substr(decided_by, 1, 9) = 'operator:') THEN '' ELSE agent_id END),
  due_at_ms, due_boot_ms, boot) WHERE due_at_ms IS NOT NULL;
