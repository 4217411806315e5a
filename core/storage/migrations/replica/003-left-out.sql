-- What the service has and the replica could not take, by set of tables: no row there says so. `part` is "record", or
-- "kept_text" where the record is there and the text that was to be kept with it is not.
CREATE TABLE left_out (
  set_name TEXT NOT NULL,
  id TEXT NOT NULL,
  part TEXT NOT NULL,
  scope TEXT NOT NULL,
  order_ms INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  reason TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL,
  PRIMARY KEY (set_name, id, part)
) WITHOUT ROWID;
