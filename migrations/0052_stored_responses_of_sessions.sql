-- A stored response goes with the session that it tells about.
ALTER TABLE idempotency_keys ADD COLUMN instance_id uuid REFERENCES session_history ON DELETE CASCADE;
