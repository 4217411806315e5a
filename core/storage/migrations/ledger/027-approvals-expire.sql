-- When a write that waits for a person's approval is rejected unless somebody has decided; NULL: never, and of every
-- other write.
ALTER TABLE writes ADD COLUMN approval_until_ms INTEGER;
CREATE INDEX IF NOT EXISTS writes_expiring ON writes (approval_until_ms) WHERE approval_until_ms IS NOT NULL;
