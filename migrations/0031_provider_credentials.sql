-- Keys of a project for providers of speech and chat; the key is sealed.
CREATE TABLE provider_credentials (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  api_key text NOT NULL,
  base_url text,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, name)
);
