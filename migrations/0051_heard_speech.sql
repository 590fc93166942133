-- What the voice sessions of a session have heard of its caller; null where there was none.
ALTER TABLE session_history ADD COLUMN heard json;
