-- What no index narrows down is read from one end to the other. These two read with as many workers as the server has
-- to spare: left to itself the planner uses none, since it takes the texts for pages on a disk. A query that is
-- returned as a set is the only kind within a function that may have workers.
CREATE FUNCTION count_session_texts(project uuid, needle text, other text) RETURNS SETOF integer
LANGUAGE plpgsql STABLE SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 AS $$
BEGIN
  RETURN QUERY SELECT count(*)::integer FROM session_texts
    WHERE project_id = project AND (strpos(data, needle) > 0 OR strpos(data, other) > 0);
END
$$;

CREATE FUNCTION find_session_texts(project uuid, needle text, other text)
RETURNS TABLE (instance_id uuid, session_id text, updated_at timestamptz)
LANGUAGE plpgsql STABLE SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 AS $$
BEGIN
  RETURN QUERY SELECT found.instance_id, found.session_id, found.updated_at FROM session_texts AS found
    WHERE project_id = project AND (strpos(data, needle) > 0 OR strpos(data, other) > 0);
END
$$;
