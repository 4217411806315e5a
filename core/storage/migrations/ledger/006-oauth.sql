-- Accounts with names, and credentials that are refreshed. docs/storage-format.md describes every column.
ALTER TABLE connections ADD COLUMN name TEXT NOT NULL DEFAULT '';     -- the operator's; empty where it is disconnected
ALTER TABLE connections ADD COLUMN profile TEXT NOT NULL DEFAULT '';  -- of the definition's oauth section; empty: pasted
ALTER TABLE connections ADD COLUMN flow TEXT NOT NULL DEFAULT '';
ALTER TABLE connections ADD COLUMN expires_at_ms INTEGER NOT NULL DEFAULT 0;  -- of the access token; 0: it does not end
ALTER TABLE connections ADD COLUMN refreshable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE connections ADD COLUMN sealed_as TEXT NOT NULL DEFAULT 'token';   -- 'token', or 'credential'

UPDATE connections SET name = named.name FROM (
  SELECT service, account_id,
         CASE n WHEN 1 THEN 'default' ELSE 'account-' || n END AS name
  FROM (SELECT service, account_id,
               row_number() OVER (PARTITION BY service ORDER BY connected_at_ms, account_id) AS n
        FROM connections WHERE token IS NOT NULL)
) AS named WHERE connections.service = named.service AND connections.account_id = named.account_id;
CREATE UNIQUE INDEX connections_by_name ON connections (service, name) WHERE name <> '';
