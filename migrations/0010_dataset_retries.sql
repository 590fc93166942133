-- Since when attempts fail without progress, and when the next one is due; `error` holds why.
ALTER TABLE datasets ADD COLUMN failing_since timestamptz, ADD COLUMN next_attempt_at timestamptz;
