-- Released by a person before it was looked for. docs/storage-format.md describes it.
ALTER TABLE writes ADD COLUMN release_wanted INTEGER NOT NULL DEFAULT 0;
