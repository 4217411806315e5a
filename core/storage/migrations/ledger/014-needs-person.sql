-- Which writes wait for a person, said once: lists, counters and figures read this column. docs/storage-format.md describes it.
ALTER TABLE writes ADD COLUMN needs_person INTEGER GENERATED ALWAYS AS
  (told_person = 1 OR (copied = 1 AND release_wanted = 0) OR state = 'pending_approval') VIRTUAL;
CREATE INDEX writes_need_person ON writes (seq) WHERE needs_person = 1;
DROP TRIGGER count_told_write;
CREATE TRIGGER count_new_need AFTER INSERT ON writes WHEN NEW.needs_person = 1 BEGIN
  UPDATE counters SET n = n + 1 WHERE what = 'needs_person';
END;
CREATE TRIGGER count_changed_need AFTER UPDATE OF state, told_person, copied, release_wanted ON writes
WHEN OLD.needs_person <> NEW.needs_person BEGIN
  UPDATE counters SET n = n + NEW.needs_person - OLD.needs_person WHERE what = 'needs_person';
END;
UPDATE counters SET n = (SELECT count(*) FROM writes WHERE needs_person = 1) WHERE what = 'needs_person';
