-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS session_history_to_index;
CREATE INDEX CONCURRENTLY session_history_to_index ON session_history (project_id, index_after)
  WHERE index_after IS NOT NULL;
