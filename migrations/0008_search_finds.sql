-- Whether a text holds a string is told by what stands before it: strpos also counts the characters up to there, which
-- takes longer than the search itself where most texts hold the string.
CREATE OR REPLACE FUNCTION count_session_texts(project uuid, needle text, other text) RETURNS SETOF integer
LANGUAGE plpgsql STABLE
SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET max_parallel_workers_per_gather = 4 AS $$
BEGIN
  RETURN QUERY SELECT count(*)::integer FROM session_texts
    WHERE project_id = project AND (
      octet_length(split_part(data, needle, 1)) < octet_length(data)
      OR octet_length(split_part(data, other, 1)) < octet_length(data)
    );
END
$$;

CREATE OR REPLACE FUNCTION find_session_texts(project uuid, needle text, other text)
RETURNS TABLE (instance_id uuid, session_id text, updated_at timestamptz)
LANGUAGE plpgsql STABLE
SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET max_parallel_workers_per_gather = 4 AS $$
BEGIN
  RETURN QUERY SELECT found.instance_id, found.session_id, found.updated_at FROM session_texts AS found
    WHERE project_id = project AND (
      octet_length(split_part(data, needle, 1)) < octet_length(data)
      OR octet_length(split_part(data, other, 1)) < octet_length(data)
    );
END
$$;
