-- The latest transfer of a call.
ALTER TABLE calls ADD COLUMN transfer json;

-- Music for callers who wait. The file is in the document store.
CREATE TABLE media_files (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  bytes bigint NOT NULL,
  duration_ms integer NOT NULL,
  file_key text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX media_files_of_project ON media_files (project_id, created_at, id);
CREATE TRIGGER media_files_note_file_removal AFTER DELETE ON media_files
  FOR EACH ROW EXECUTE FUNCTION note_file_removal();
