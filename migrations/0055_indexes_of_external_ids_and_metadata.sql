-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS calls_by_external_id;
CREATE INDEX CONCURRENTLY calls_by_external_id ON calls (project_id, external_id) WHERE external_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS calls_by_metadata;
CREATE INDEX CONCURRENTLY calls_by_metadata ON calls USING gin ((metadata::jsonb) jsonb_path_ops);
