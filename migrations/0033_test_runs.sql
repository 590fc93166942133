CREATE TABLE test_runs (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- No reference: a run outlives its suite, its baseline and its session.
  test_suite_id uuid,
  baseline_run_id uuid,
  name text NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'passed', 'failed', 'canceled', 'error')),
  version text NOT NULL,
  repeat integer NOT NULL,
  concurrency integer NOT NULL,
  seed bigint NOT NULL,
  release_id text NOT NULL,
  plays integer NOT NULL,
  -- Of the session that the run replays.
  source_instance_id uuid,
  replays_session_id text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz
);
CREATE INDEX test_runs_of_project ON test_runs (project_id, created_at DESC, id DESC);
CREATE INDEX test_runs_unfinished ON test_runs (created_at) WHERE ended_at IS NULL;
CREATE INDEX test_runs_of_source ON test_runs (source_instance_id) WHERE source_instance_id IS NOT NULL;

-- The cases as they were when the run was made.
CREATE TABLE test_run_cases (
  run_id uuid NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  position integer NOT NULL,
  test_case_id uuid,
  name text NOT NULL,
  channel text NOT NULL,
  definition json NOT NULL,
  PRIMARY KEY (run_id, position)
);
CREATE INDEX test_run_cases_of_case ON test_run_cases (test_case_id);

CREATE TABLE test_plays (
  run_id uuid NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  number integer NOT NULL,
  position integer NOT NULL,
  index integer NOT NULL,
  seed bigint NOT NULL,
  channel text NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'passed', 'failed', 'error', 'canceled')),
  -- Who has claimed it, and how often it was claimed: a result of an older claim is refused.
  lane text,
  attempt integer NOT NULL DEFAULT 0,
  -- Of the history of its session.
  instance_id uuid,
  result json,
  PRIMARY KEY (run_id, number)
);

-- Sessions of tests are left out of lists, and kept as long as the runs.
ALTER TABLE session_history ADD COLUMN is_test boolean NOT NULL DEFAULT false;

-- The session that a case was made from, for the erasure of its customer.
ALTER TABLE test_cases ADD COLUMN source_instance_id uuid;

CREATE FUNCTION drop_test_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM session_history WHERE instance_id = OLD.instance_id AND is_test;
  RETURN NULL;
END $$;
CREATE TRIGGER test_plays_drop_session AFTER DELETE ON test_plays
  FOR EACH ROW WHEN (OLD.instance_id IS NOT NULL) EXECUTE FUNCTION drop_test_session();
