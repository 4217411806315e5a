-- The rule that has a person asked, as agents are told of it: see docs/storage-format.md. NULL of what waits already.
ALTER TABLE writes ADD COLUMN asked_by TEXT;
