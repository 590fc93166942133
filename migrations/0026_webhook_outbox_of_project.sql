-- Outside a transaction.
-- The longest overdue session of each project, for claims that pass over the backlog of others.
DROP INDEX CONCURRENTLY IF EXISTS webhook_outbox_of_project;
CREATE INDEX CONCURRENTLY webhook_outbox_of_project ON webhook_outbox (project_id, next_at);
