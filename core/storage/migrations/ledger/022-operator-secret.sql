-- The operator's passphrase, as what it is checked by: one row. docs/storage-format.md describes every column.
CREATE TABLE operator_secret (
  one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
  verifier TEXT NOT NULL,     -- of Argon2id, as libsodium writes it; empty: none is set
  set_at_ms BIGINT NOT NULL,  -- 0: none is set
  of_before BIGINT NOT NULL CHECK (of_before IN (0, 1))
);
-- A data directory that is in use goes on as it did until a passphrase is set; in a new one decisions need one.
INSERT INTO operator_secret (one, verifier, set_at_ms, of_before)
SELECT 1, '', 0, CASE WHEN EXISTS (SELECT 1 FROM agents) THEN 1 ELSE 0 END;
