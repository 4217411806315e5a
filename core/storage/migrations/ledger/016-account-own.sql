-- What an account has of its own: a base address (empty: the service's) and settings, one JSON object of texts. Not secret.
ALTER TABLE connections ADD COLUMN base_url TEXT NOT NULL DEFAULT '';
ALTER TABLE connections ADD COLUMN settings_json TEXT NOT NULL DEFAULT '{}';
