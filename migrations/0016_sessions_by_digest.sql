-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS sessions_by_digest;
CREATE INDEX CONCURRENTLY sessions_by_digest ON sessions (project_id, digest) WHERE digest IS NOT NULL;
