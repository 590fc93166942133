CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  session_idle_minutes integer NOT NULL,
  history_retention_days integer NOT NULL,
  report_usage boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('secret', 'developer')),
  digest text NOT NULL UNIQUE,
  hint text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX api_keys_of_project ON api_keys (project_id, created_at);

-- Outlives its project: who removed it is the question that the log is for.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  project_id uuid,
  at timestamptz NOT NULL,
  actor jsonb NOT NULL,
  action text NOT NULL,
  target text,
  details jsonb NOT NULL,
  request_id text
);
CREATE INDEX audit_log_of_project ON audit_log (project_id, at DESC, id DESC);

CREATE TABLE agents (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  config jsonb NOT NULL,
  frozen jsonb,
  updated_at timestamptz NOT NULL
);

CREATE TABLE pathways (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL UNIQUE REFERENCES projects ON DELETE CASCADE,
  version integer NOT NULL,
  graph jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE pathway_versions (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  version integer NOT NULL,
  graph jsonb NOT NULL,
  author jsonb NOT NULL,
  restored_from integer,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, version)
);

CREATE TABLE tools (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL,
  parameters jsonb NOT NULL,
  http jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT tools_name_in_project UNIQUE (project_id, name)
);

CREATE TABLE test_cases (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX test_cases_of_project ON test_cases (project_id, created_at, id);

CREATE TABLE test_suites (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX test_suites_of_project ON test_suites (project_id, created_at, id);

CREATE TABLE test_suite_cases (
  test_suite_id uuid NOT NULL REFERENCES test_suites ON DELETE CASCADE,
  test_case_id uuid NOT NULL REFERENCES test_cases ON DELETE CASCADE,
  position integer NOT NULL,
  PRIMARY KEY (test_suite_id, test_case_id)
);
CREATE INDEX test_suite_cases_of_case ON test_suite_cases (test_case_id);

-- The answer to a POST, kept in the transaction that did what it answers.
CREATE TABLE idempotency_keys (
  scope text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  status integer,
  body jsonb,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE legacy_usage (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  route text NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (project_id, day, route)
);

-- Facts about this installation, such as the fingerprint of the key that its secrets are sealed with.
CREATE TABLE installation (
  name text PRIMARY KEY,
  value text NOT NULL
);
