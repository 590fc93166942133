-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_of_session;
CREATE INDEX CONCURRENTLY idempotency_keys_of_session ON idempotency_keys (instance_id) WHERE instance_id IS NOT NULL;
