CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Whose words are indexed: set with the content, also where a node of the previous release writes it. Null for what was
-- indexed before, until the nodes have moved it.
ALTER TABLE session_messages ADD COLUMN project_id uuid;

CREATE FUNCTION set_project_of_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.project_id := (SELECT project_id FROM session_history WHERE instance_id = NEW.instance_id);
  RETURN NEW;
END
$$;
CREATE TRIGGER session_message_indexed BEFORE INSERT OR UPDATE OF content ON session_messages
FOR EACH ROW WHEN (NEW.content IS NOT NULL) EXECUTE FUNCTION set_project_of_message();
