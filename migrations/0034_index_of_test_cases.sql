-- Outside a transaction.
DROP INDEX CONCURRENTLY IF EXISTS test_cases_of_source;
CREATE INDEX CONCURRENTLY test_cases_of_source ON test_cases (source_instance_id)
  WHERE source_instance_id IS NOT NULL;
