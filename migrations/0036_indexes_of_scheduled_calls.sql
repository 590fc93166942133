-- Outside a transaction.
ALTER TABLE calls VALIDATE CONSTRAINT calls_status_check;
DROP INDEX CONCURRENTLY IF EXISTS calls_scheduled;
CREATE INDEX CONCURRENTLY calls_scheduled ON calls (greatest(not_before, retry_at)) WHERE status = 'scheduled';
DROP INDEX CONCURRENTLY IF EXISTS calls_scheduled_of_project;
CREATE INDEX CONCURRENTLY calls_scheduled_of_project ON calls (project_id, to_number) WHERE status = 'scheduled';
