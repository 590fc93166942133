-- Characters of the state's JSON: what a search reads of a session that is not indexed, beside its messages.
ALTER TABLE sessions ADD COLUMN state_characters integer NOT NULL DEFAULT 0;
