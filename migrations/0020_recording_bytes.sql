-- Bytes of the stored recording, which count in the project's quota; null without one, and for those that are older.
ALTER TABLE calls ADD COLUMN recording_bytes bigint;
