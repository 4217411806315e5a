-- The key before the present one, where its agent was given time to change over: docs/operations.md. NULL: it has ended.
ALTER TABLE agents ADD COLUMN old_key_hash TEXT;
ALTER TABLE agents ADD COLUMN old_key_until_ms INTEGER;
