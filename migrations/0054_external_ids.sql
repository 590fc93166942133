-- The API client's own id of a call.
ALTER TABLE calls ADD COLUMN external_id text;
