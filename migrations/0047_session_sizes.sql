-- What a session's history has been sent, in characters of JSON, and some for each row. Beyond a limit nothing more is kept.
ALTER TABLE session_history
  ADD COLUMN message_characters integer NOT NULL DEFAULT 0,
  ADD COLUMN event_characters integer NOT NULL DEFAULT 0;
