-- The standard terms. What a column holds is the same as before; docs/storage-format.md describes every one.
ALTER TABLE writes RENAME COLUMN closed TO irrevocable;
ALTER TABLE writes RENAME COLUMN told_person TO escalated;
ALTER TABLE writes RENAME COLUMN copied TO held_as_copy;
ALTER TABLE writes RENAME COLUMN look_first TO reconcile_first;
ALTER TABLE writes RENAME COLUMN lane TO ordering_key;
ALTER TABLE writes RENAME COLUMN undoes TO rolls_back;
ALTER TABLE writes RENAME COLUMN undo_ms TO rollback_ms;
ALTER TABLE writes RENAME COLUMN needs_person TO needs_operator;
-- Texts inside of triggers are not renamed with a column.
DROP TRIGGER count_new_need;
DROP TRIGGER count_changed_need;
DROP TRIGGER count_copied_write;
UPDATE counters SET what = 'needs_operator' WHERE what = 'needs_person';
UPDATE counters SET what = 'held_as_copy' WHERE what = 'copied';
CREATE TRIGGER count_new_need AFTER INSERT ON writes WHEN NEW.needs_operator = 1 BEGIN
  UPDATE counters SET n = n + 1 WHERE what = 'needs_operator';
END;
CREATE TRIGGER count_changed_need AFTER UPDATE OF state, escalated, held_as_copy, release_wanted ON writes
WHEN OLD.needs_operator <> NEW.needs_operator BEGIN
  UPDATE counters SET n = n + NEW.needs_operator - OLD.needs_operator WHERE what = 'needs_operator';
END;
CREATE TRIGGER count_held_as_copy AFTER UPDATE OF held_as_copy ON writes WHEN OLD.held_as_copy <> NEW.held_as_copy BEGIN
  UPDATE counters SET n = n + NEW.held_as_copy - OLD.held_as_copy WHERE what = 'held_as_copy';
END;
DROP INDEX writes_for_person;
DROP INDEX writes_need_person;
DROP INDEX writes_copied;
DROP INDEX writes_undoing;
CREATE INDEX writes_escalated ON writes (escalated) WHERE escalated = 1;
CREATE INDEX writes_need_operator ON writes (seq) WHERE needs_operator = 1;
CREATE INDEX writes_held_as_copy ON writes (seq) WHERE held_as_copy = 1;
-- One rollback of a write at a time.
CREATE UNIQUE INDEX writes_rolling_back ON writes (rolls_back) WHERE rolls_back IS NOT NULL AND ended_at_ms IS NULL;
