-- The retentionDays that somebody has set; null keeps for ever. Of sessions only that: their days are
-- history_retention_days, which nodes of older releases know.
ALTER TABLE projects ADD COLUMN retention_days jsonb NOT NULL DEFAULT '{}';

-- Whether the SIP trace was removed before its call.
ALTER TABLE calls ADD COLUMN is_trace_removed boolean NOT NULL DEFAULT false;

-- A recording may end before its call.
CREATE TRIGGER calls_drop_recording AFTER UPDATE OF recording ON calls
  FOR EACH ROW WHEN (OLD.recording->>'key' IS NOT NULL AND NEW.recording IS NULL) EXECUTE FUNCTION leave_recording();
