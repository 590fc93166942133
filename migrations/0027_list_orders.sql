-- Outside a transaction.
-- The orders of lists, in which cursors continue.
DROP INDEX CONCURRENTLY IF EXISTS projects_by_creation;
CREATE INDEX CONCURRENTLY projects_by_creation ON projects (created_at, id);
DROP INDEX CONCURRENTLY IF EXISTS tools_of_project;
CREATE INDEX CONCURRENTLY tools_of_project ON tools (project_id, created_at, id);
DROP INDEX CONCURRENTLY IF EXISTS phone_numbers_by_number;
CREATE INDEX CONCURRENTLY phone_numbers_by_number ON phone_numbers (number, is_duplicate, created_at, id);
DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_of_session;
CREATE INDEX CONCURRENTLY webhook_deliveries_of_session ON webhook_deliveries (project_id, session_id, at DESC, id DESC);
