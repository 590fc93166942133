-- Outside a transaction.
-- A search reads the words of its own project alone. What waits to be sorted in is read by every search.
DROP INDEX CONCURRENTLY IF EXISTS session_messages_words;
CREATE INDEX CONCURRENTLY session_messages_words ON session_messages
  USING gin (project_id, content gin_trgm_ops) WITH (gin_pending_list_limit = 256)
  WHERE project_id IS NOT NULL;
-- What was indexed before. The nodes move it, then drop its index session_messages_trigrams.
DROP INDEX CONCURRENTLY IF EXISTS session_messages_to_move;
CREATE INDEX CONCURRENTLY session_messages_to_move ON session_messages (instance_id)
  WHERE content IS NOT NULL AND project_id IS NULL;
