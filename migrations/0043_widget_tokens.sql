-- Public tokens of the widget on web pages: by their digest, with what limits them.
CREATE TABLE widget_tokens (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  digest text NOT NULL UNIQUE,
  hint text NOT NULL,
  allowed_origins text[] NOT NULL,
  max_minutes_per_day integer NOT NULL,
  requests_per_minute integer NOT NULL,
  -- Null for a token that does not expire.
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  -- Talk time of one UTC day; of an earlier day it counts no more.
  used_on date,
  used_ms bigint NOT NULL DEFAULT 0
);
CREATE INDEX widget_tokens_of_project ON widget_tokens (project_id, created_at, id);
