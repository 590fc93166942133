-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS calls_with_recording;
CREATE INDEX CONCURRENTLY calls_with_recording ON calls (project_id) INCLUDE (recording_bytes)
  WHERE recording_bytes IS NOT NULL;
