-- Outside a transaction.
-- Deliveries of eventWebhooks are many, and removed earlier than others.
DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_of_events;
CREATE INDEX CONCURRENTLY webhook_deliveries_of_events ON webhook_deliveries (project_id, at) WHERE webhook = 'eventWebhook';
