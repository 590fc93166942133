-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS session_history_of_tests;
CREATE INDEX CONCURRENTLY session_history_of_tests ON session_history (project_id, ended_at) WHERE is_test;
