-- What every replica has beside its collections. docs/storage-format.md describes every column.
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE collections (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  shape TEXT NOT NULL,
  rows INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE problems (
  part TEXT PRIMARY KEY,
  status INTEGER NOT NULL,
  message TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- A blob without a collection is still arriving, or was left by a kill.
CREATE TABLE blobs (
  blob INTEGER PRIMARY KEY AUTOINCREMENT,
  collection TEXT,
  id TEXT,
  name TEXT,
  bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE (collection, id, name)
);

CREATE TABLE blob_chunks (
  blob INTEGER NOT NULL REFERENCES blobs (blob) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (blob, seq)
);
