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

-- The sessions of a project in which a pattern of LIKE was said. The planner takes a text for as cheap to read as a number,
-- so that without settings it may read all texts, and once for each session.
CREATE FUNCTION find_sessions_saying(asked_project_id uuid, pattern text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN QUERY SELECT instance_id FROM session_messages WHERE project_id = asked_project_id AND content ILIKE pattern;
END
$$;
