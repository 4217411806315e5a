-- What an account was connected through: 'plugin' (the plugins directory), 'bundle' or 'mock'. Its writes and its replica
-- are that adapter's; empty: it was connected before this was noted.
ALTER TABLE connections ADD COLUMN adapter TEXT NOT NULL DEFAULT '';
