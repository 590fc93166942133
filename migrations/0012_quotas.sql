-- What a project may hold: all that its operator set, the rest is as the service has it.
ALTER TABLE projects ADD COLUMN quotas jsonb NOT NULL DEFAULT '{}';

-- What a project used, by UTC day.
CREATE TABLE project_usage (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  day date NOT NULL,
  kind text NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (project_id, day, kind)
);
