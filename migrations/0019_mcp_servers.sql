-- Servers whose tools a project uses over the Model Context Protocol.
CREATE TABLE mcp_servers (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  url text NOT NULL,
  headers jsonb NOT NULL,
  timeout_ms integer NOT NULL,
  listing jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX mcp_servers_name_in_project ON mcp_servers (project_id, name);

-- A tool is an HTTP request, or what one of these servers offers.
ALTER TABLE tools
  ADD COLUMN mcp_server_id uuid REFERENCES mcp_servers ON DELETE CASCADE,
  ADD COLUMN mcp jsonb;
CREATE INDEX tools_of_mcp_server ON tools (mcp_server_id) WHERE mcp_server_id IS NOT NULL;
