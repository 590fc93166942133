-- Calls that are placed later.
ALTER TABLE calls
  ADD COLUMN not_before timestamptz,
  -- A scheduled call that could not be placed is tried again then.
  ADD COLUMN retry_at timestamptz,
  DROP CONSTRAINT calls_status_check,
  ADD CONSTRAINT calls_status_check CHECK (status IN (
    'scheduled', 'queued', 'dialing', 'ringing', 'in_progress', 'completed', 'busy', 'no_answer', 'failed', 'canceled'
  )) NOT VALID;
