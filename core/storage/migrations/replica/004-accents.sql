-- Texts are searched without accents. Those of rows that were there before still have them; they lose them between passes, in
-- the order of their keys: all up to refolded_through have. NULL: all of the set have.
ALTER TABLE collections ADD COLUMN refolded_through BIGINT;
UPDATE collections SET refolded_through = -9223372036854775807;
