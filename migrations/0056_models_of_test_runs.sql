-- What a run plays in place of the agent's own; null for that.
ALTER TABLE test_runs ADD COLUMN mode text, ADD COLUMN model text;
