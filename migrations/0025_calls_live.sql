-- Outside a transaction.
-- The calls that hold slots of their project and trunk, from which lost counts are rebuilt.
DROP INDEX CONCURRENTLY IF EXISTS calls_live;
CREATE INDEX CONCURRENTLY calls_live ON calls (project_id, trunk_id)
  WHERE status IN ('dialing', 'ringing', 'in_progress');
DROP INDEX CONCURRENTLY IF EXISTS call_dialogs_of_call;
CREATE INDEX CONCURRENTLY call_dialogs_of_call ON call_dialogs (call_id);
