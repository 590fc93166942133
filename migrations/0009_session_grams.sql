-- Which characters, and which pairs of neighbours, each live session's text holds: strings that have no three letters
-- in a row for the index of trigrams. Narrow, so that a count of all reads little; a row may be older than its text, of
-- which session_text_changes tells.
CREATE TABLE session_grams (
  instance_id uuid PRIMARY KEY REFERENCES session_texts (instance_id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  session_id text NOT NULL,
  -- The text's, as it was read.
  updated_at timestamptz NOT NULL,
  grams bigint[] NOT NULL
) WITH (toast_tuple_target = 128);
-- What waits to be sorted in is read by every search.
CREATE INDEX session_grams_index ON session_grams USING gin (grams) WITH (gin_pending_list_limit = 256);

-- One row for each change of a text that session_grams does not have yet.
CREATE TABLE session_text_changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  instance_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX session_text_changes_of_project ON session_text_changes (project_id);

CREATE FUNCTION note_session_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_text_changes (project_id, instance_id) VALUES (NEW.project_id, NEW.instance_id);
  RETURN NULL;
END
$$;
CREATE TRIGGER session_text_changed AFTER INSERT OR UPDATE OF data ON session_texts
FOR EACH ROW EXECUTE FUNCTION note_session_text();

-- As if all had just begun.
INSERT INTO session_text_changes (project_id, instance_id) SELECT project_id, instance_id FROM session_texts;

-- How many of a project's texts hold a string whose grams say all: one character, or two. Texts that have changed
-- since are looked at themselves. Left to itself the planner would read the grams of all.
CREATE FUNCTION count_by_grams(project uuid, keys bigint[], needle text) RETURNS integer
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN (
    WITH changed AS MATERIALIZED (
      SELECT DISTINCT change.instance_id FROM session_text_changes AS change WHERE change.project_id = project
    )
    SELECT (
      SELECT count(*) FROM session_grams AS known
      WHERE known.project_id = project AND known.grams @> keys
        AND known.instance_id NOT IN (SELECT changed.instance_id FROM changed)
    ) + (
      SELECT count(*) FROM changed JOIN session_texts AS text USING (instance_id)
      WHERE octet_length(split_part(text.data, needle, 1)) < octet_length(text.data)
    )
  );
END
$$;

-- The texts that hold one of two strings, of which the second may be null; is_certain where their grams say all.
CREATE FUNCTION find_by_grams(
  project uuid, keys bigint[], other_keys bigint[], needle text, other text, is_certain boolean
) RETURNS TABLE (instance_id uuid, session_id text, updated_at timestamptz)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN QUERY
    WITH changed AS MATERIALIZED (
      SELECT DISTINCT change.instance_id FROM session_text_changes AS change WHERE change.project_id = project
    )
    SELECT known.instance_id, known.session_id, known.updated_at FROM session_grams AS known
    WHERE known.project_id = project AND (known.grams @> keys OR known.grams @> other_keys)
      AND known.instance_id NOT IN (SELECT changed.instance_id FROM changed)
      AND (is_certain OR (
        SELECT octet_length(split_part(text.data, needle, 1)) < octet_length(text.data)
          OR octet_length(split_part(text.data, other, 1)) < octet_length(text.data)
        FROM session_texts AS text WHERE text.instance_id = known.instance_id
      ))
    UNION ALL
    SELECT text.instance_id, text.session_id, text.updated_at
    FROM changed JOIN session_texts AS text ON text.instance_id = changed.instance_id
    WHERE octet_length(split_part(text.data, needle, 1)) < octet_length(text.data)
      OR octet_length(split_part(text.data, other, 1)) < octet_length(text.data);
END
$$;
