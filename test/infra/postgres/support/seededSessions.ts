import type { Database } from '../../../../src/infra/postgres/connection/database.ts';

/**
 * Inserts ended sessions with their calls, events and messages, which follow from their number: two of three have a call,
 * one of three calls is not answered, and so on. They began over ten days from 2026-01-01 on.
 */
export async function seedSessions(database: Database, projectId: string, count: number): Promise<void> {
  for (const sql of SEED) await database.query(sql, [projectId, count]);
}

/** `i` is the number of a session. Ids sort as the numbers do. */
const NUMBERED = `(
  SELECT i, (lpad(to_hex(i), 8, '0') || '-' || substr(md5($1), 1, 4) || '-7000-8000-' || substr(md5($1), 5, 12))::uuid AS id,
    '2026-01-01T00:00:00Z'::timestamptz + i * interval '10 days' / $2::integer AS begun
  FROM generate_series(1, $2::integer) AS i
) AS numbered`;

const SEED = [
  `INSERT INTO session_history (instance_id, project_id, session_id, channel, provider, status, started_at, ended_at,
     end_reason, variables, evaluation, turns, language, is_test, to_count)
   SELECT id, $1::text::uuid, 'session ' || i, CASE i % 3 WHEN 0 THEN 'chat' ELSE 'phone' END, 'site ' || i % 4, 'ended', begun,
     begun + (30 + i % 90) * interval '1 second', (ARRAY['idle', 'end_node', 'call_ended'])[1 + i % 3],
     json_build_object('customerId', 'customer ' || i % 500),
     CASE WHEN i % 5 = 0 THEN json_build_object('criteria', json_build_array(
       json_build_object('name', 'polite', 'passed', i % 10 = 0), json_build_object('name', 'tone', 'score', 3))) END,
     i % 7, (ARRAY['en-US', 'es-US'])[1 + i % 2], i % 50 = 0, i % 50 <> 0
   FROM ${NUMBERED}`,
  `INSERT INTO calls (id, project_id, session_id, instance_id, direction, status, end_reason, from_number, to_number,
     trunk_id, settings, metadata, created_at, priority, answered_at, ended_at, hangup_requested, settled)
   SELECT id, $1::text::uuid, 'session ' || i, id, (ARRAY['inbound', 'outbound'])[1 + i % 2],
     CASE WHEN i % 3 = 1 THEN 'no_answer' ELSE 'completed' END, CASE WHEN i % 3 = 2 THEN 'caller_hangup' END,
     '+1', '+2', md5('trunk ' || i % 3)::uuid, '{}', '{}', begun, 0,
     CASE WHEN i % 3 = 2 THEN begun + interval '10 seconds' END, begun + (30 + i % 90) * interval '1 second', false, true
   FROM ${NUMBERED} WHERE i % 3 > 0`,
  `INSERT INTO session_events (instance_id, type, at, data)
   SELECT id, type, begun + seconds * interval '1 second', data::json FROM ${NUMBERED}, (VALUES
     (1, 0, 'node_entered', 1, '{"nodeId":"greeting","title":"Greeting","why":"begin"}'),
     (2, 0, 'node_entered', 8, '{"nodeId":"need","title":"Need","why":"x","edgeId":"e1"}'),
     (4, 1, 'node_entered', 15, '{"nodeId":"offer","title":"Offer","why":"x","edgeId":"e2"}'),
     (3, 0, 'tool_result', 9, '{"name":"find","ok":true}'),
     (9, 2, 'tool_result', 10, '{"name":"find","ok":false}'),
     (6, 1, 'barge_in', 12, '{}'),
     (8, 3, 'transfer', 20, '{"status":"joined"}'),
     (25, 4, 'error', 21, '{"code":"x"}')
   ) AS happened (every, rest, type, seconds, data) WHERE i % every = rest`,
  `INSERT INTO session_messages (instance_id, project_id, message, text, latency_ms)
   SELECT id, $1::text::uuid, json_build_object('role', 'assistant', 'latencyParts', json_build_object('answerMs', ms - 100)),
     'said', ms
   FROM ${NUMBERED}, LATERAL (SELECT 300 + i * turn % 1500 AS ms FROM generate_series(1, i % 7) AS turn) AS turns`,
];
