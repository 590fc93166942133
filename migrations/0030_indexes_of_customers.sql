-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS sessions_of_customer;
CREATE INDEX CONCURRENTLY sessions_of_customer ON sessions (project_id, customer_id_of(state->'variables'))
  WHERE customer_id_of(state->'variables') IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS session_history_of_customer;
CREATE INDEX CONCURRENTLY session_history_of_customer ON session_history (project_id, customer_id_of(variables))
  WHERE customer_id_of(variables) IS NOT NULL;
-- Carriers may send anything as a number, and an index takes no long texts.
DROP INDEX CONCURRENTLY IF EXISTS calls_of_customer;
CREATE INDEX CONCURRENTLY calls_of_customer ON calls
  (project_id, left(CASE direction WHEN 'inbound' THEN from_number ELSE to_number END, 256));
-- For what ends before its call.
DROP INDEX CONCURRENTLY IF EXISTS calls_recorded_by_end;
CREATE INDEX CONCURRENTLY calls_recorded_by_end ON calls (project_id, ended_at) WHERE recording->>'key' IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS calls_traced_by_end;
CREATE INDEX CONCURRENTLY calls_traced_by_end ON calls (project_id, ended_at) WHERE NOT is_trace_removed;
DROP INDEX CONCURRENTLY IF EXISTS customer_memories_by_age;
CREATE INDEX CONCURRENTLY customer_memories_by_age ON customer_memories (updated_at);
