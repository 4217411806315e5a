-- A collection may have several sets of tables: the one that reads are answered from, one that a full pass is filling
-- for another version of it, and old ones that are to be dropped. `name` names the set.
ALTER TABLE collections ADD COLUMN collection TEXT NOT NULL DEFAULT '';
ALTER TABLE collections ADD COLUMN role TEXT NOT NULL DEFAULT 'serves' CHECK (role IN ('serves', 'fills', 'old'));
ALTER TABLE collections ADD COLUMN complete INTEGER NOT NULL DEFAULT 0;  -- whether a full pass has filled it to the end
UPDATE collections SET collection = name,
                       complete = coalesce((SELECT value FROM state WHERE state.name = 'full_done'), 0);
