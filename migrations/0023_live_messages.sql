-- The conversation of each live session, as its next turns read it: also what only the model sees. A turn appends; the
-- session's end removes them. What is kept of them is in session_messages.
CREATE TABLE live_messages (
  instance_id uuid NOT NULL REFERENCES sessions (instance_id) ON DELETE CASCADE,
  position integer NOT NULL,
  message json NOT NULL,
  PRIMARY KEY (instance_id, position)
);

ALTER TABLE sessions
  -- How many of its messages are in live_messages. A node of the previous release keeps all messages in the state;
  -- the next turn moves them.
  ADD COLUMN message_count integer NOT NULL DEFAULT 0,
  -- Of the session's data; later with each turn. Null: last_activity_at.
  ADD COLUMN updated_at timestamptz;

-- When the session's messages are due for the search indexes; null when all are in them. Until then a search reads the
-- messages. An indexing node moves it on by a lease.
ALTER TABLE session_history ADD COLUMN index_after timestamptz;

-- A live session's data as JSON text, to the letter as the API shows it (sessionData).
CREATE FUNCTION live_session_text(instance uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat(
    '{"variables":', state->'variables',
    ',"messages":[', (
      SELECT string_agg(concat(
        '{"role":', message->'role', ',"content":', message->'content',
        ',"tool_calls":' || (message->'tool_calls')::text,
        ',"tool_call_id":' || (message->'tool_call_id')::text,
        ',"name":' || (message->'name')::text,
        '}'
      ), ',' ORDER BY is_placed DESC, position)
      FROM (
        SELECT message, position, true AS is_placed FROM live_messages WHERE instance_id = instance
        UNION ALL
        SELECT message, position, false FROM json_array_elements(state->'messages')
          WITH ORDINALITY AS kept (message, position)
        WHERE position > coalesce((state->>'placed')::integer, 0)
      ) AS said
      WHERE message->'internal' IS NULL
    ),
    '],"pathwayId":"', pathway_id,
    '","currentNodeId":', state->'currentNodeId',
    ',"channel":"', channel,
    '","provider":', coalesce(to_json(provider)::text, 'null'),
    ',"status":"active",',
    '"callId":' || to_json(call_id)::text || ',',
    '"startedAt":"', to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    '","lastActivityAt":"', to_char(last_activity_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    '"}'
  )
  FROM sessions WHERE instance_id = instance
$$;
