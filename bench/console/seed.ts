import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Client } from 'pg';

import { wavHeader } from '../../src/media/wav.ts';

const SAMPLE_RATE_HZ = 8_000;
const CHANNELS = 2;
const BYTES_PER_SECOND = SAMPLE_RATE_HZ * CHANNELS * 2;
const TURN_SECONDS = 10;
const SETTINGS = JSON.stringify({
  ringTimeoutSeconds: 45,
  maxDurationSeconds: 7_200,
  record: true,
  media: null,
});

/** A call of the given length with a turn each ten seconds. @returns Its id, and the key of its recording. */
export async function seedLongCall(
  database: Client,
  projectId: string,
  seconds: number,
): Promise<{ readonly callId: string; readonly key: string }> {
  const [callId, instanceId] = [randomUUID(), randomUUID()];
  const key = `${projectId}/${callId}.wav`;
  const startMs = Date.now() - seconds * 1000 - 60_000;
  const at = (second: number) => new Date(startMs + second * 1000).toISOString();
  const [start, end] = [at(0), at(seconds)];
  const turns = Array.from({ length: Math.floor(seconds / TURN_SECONDS) }, (_, turn) => turn * TURN_SECONDS);
  const messages = turns.flatMap((second) => [
    {
      role: 'user',
      content: `What about the appointment at minute ${Math.round(second / 60)}, please?`,
      at: at(second + 3),
      nodeId: 'conversation',
      spoken: { from: at(second + 1), to: at(second + 3) },
    },
    {
      role: 'assistant',
      content: 'There is room in the morning and in the afternoon. Which one would suit you better?',
      at: at(second + 4),
      nodeId: 'conversation',
      latencyMs: 900,
      latencyParts: {
        bufferMs: 40,
        endpointingMs: 300,
        transcriptionMs: 60,
        answerMs: 300,
        speechMs: 160,
        playoutMs: 40,
      },
      latencyDetails: { modelMs: 250, sentenceMs: 60 },
      spoken: { from: at(second + 4), to: at(second + 9) },
    },
  ]);
  const events = turns.flatMap((second, turn) => [
    { type: 'turn', at: at(second + 4), data: { trigger: 'message', modelCalls: 1 } },
    {
      type: 'node_entered',
      at: at(second + 4),
      data: { nodeId: `n${turn % 20}`, title: `Step ${turn % 20}` },
    },
    { type: 'variable_set', at: at(second + 4), data: { name: 'slot', value: turn, source: 'extracted' } },
  ]);
  const samples = Array.from({ length: 720 }, (_, index) => ({
    atMs: startMs + ((index + 1) * seconds * 1000) / 720,
    packetsReceived: 500,
    packetsLost: index % 50 === 0 ? 12 : 0,
    jitterMs: 3 + (index % 7),
    mos: 4.3,
    roundTripMs: 40,
  }));
  const recording = { status: 'ready', key, durationMs: seconds * 1000, startedAt: start, error: null };
  await database.query(
    `INSERT INTO session_history (instance_id, project_id, session_id, channel, call_id, status, started_at, ended_at,
       end_reason, variables, message_count, turns)
     VALUES ($1, $2, $3, 'phone', $4, 'ended', $5, $6, 'caller_hangup', '{}', $7, $8)`,
    [instanceId, projectId, `long-${callId}`, callId, start, end, messages.length, turns.length],
  );
  await database.query(
    `INSERT INTO session_messages (instance_id, message, latency_ms)
     SELECT $1, message, (message->>'latencyMs')::integer FROM json_array_elements($2::json) AS message`,
    [instanceId, JSON.stringify(messages)],
  );
  await database.query(
    `INSERT INTO session_events (instance_id, type, at, data)
     SELECT $1, event->>'type', (event->>'at')::timestamptz, event->'data' FROM json_array_elements($2::json) AS event`,
    [instanceId, JSON.stringify(events)],
  );
  await database.query(
    `INSERT INTO calls (id, project_id, session_id, instance_id, direction, status, end_reason, from_number, to_number,
       settings, metadata, created_at, started_at, answered_at, ended_at, recording, media_samples, hangup_requested, settled)
     VALUES ($1, $2, $3, $4, 'inbound', 'completed', 'caller_hangup', '+886223456780', '+886223456781', $9, '{}', $5, $5,
       $5, $6, $7, $8, false, true)`,
    [
      callId,
      projectId,
      `long-${callId}`,
      instanceId,
      start,
      end,
      JSON.stringify(recording),
      JSON.stringify({ intervalMs: (seconds * 1000) / 720, samples }),
      SETTINGS,
    ],
  );
  await database.query(
    `INSERT INTO webhook_deliveries (id, attempt, project_id, session_id, webhook, event, url, status, duration_ms, at, body, answer)
     SELECT gen_random_uuid(), 1, $1, $2, 'eventWebhook', 'turn.user', 'https://example.com/events', 200, 30,
       $3::timestamptz + n * interval '30 seconds', $4, '{"taken": true}' FROM generate_series(1, 200) AS n`,
    [projectId, `long-${callId}`, start, JSON.stringify({ text: 'x'.repeat(2_000) })],
  );
  return { callId, key };
}

/** Calls that ended, each with a session of two messages. */
export async function seedCalls(database: Client, projectId: string, count: number): Promise<void> {
  await database.query(
    `WITH made AS (
       SELECT n, gen_random_uuid() AS call_id, gen_random_uuid() AS instance_id,
         now() - n * interval '5 minutes' AS at FROM generate_series(1, $2) AS n
     ), history AS (
       INSERT INTO session_history (instance_id, project_id, session_id, channel, call_id, status, started_at, ended_at,
         end_reason, variables, message_count, turns)
       SELECT instance_id, $1, 's-' || n, 'phone', call_id, 'ended', at, at + interval '1 minute', 'caller_hangup', '{}', 2, 1
       FROM made
     )
     INSERT INTO calls (id, project_id, session_id, instance_id, direction, status, end_reason, from_number, to_number,
       settings, metadata, created_at, started_at, answered_at, ended_at, hangup_requested, settled)
     SELECT call_id, $1, 's-' || n, instance_id, CASE WHEN n % 2 = 0 THEN 'inbound' ELSE 'outbound' END, 'completed',
       'caller_hangup', '+886223456780', '+8869' || lpad(n::text, 8, '0'), $3, '{}', at, at, at, at + interval '1 minute',
       false, true
     FROM made`,
    [projectId, count, SETTINGS],
  );
  await database.query('ANALYZE calls, session_history');
}

/** A recording of noise, of both sides. */
export function writeRecording(path: string, seconds: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const noise = randomBytes(BYTES_PER_SECOND);
  writeFileSync(
    path,
    wavHeader({ sampleRateHz: SAMPLE_RATE_HZ, channels: CHANNELS }, seconds * BYTES_PER_SECOND),
  );
  for (let second = 0; second < seconds; second += 1) appendFileSync(path, noise);
}

/** A grid of conversation nodes, each with an edge to the next one and to the one below. */
export function largePathway(count: number) {
  const perRow = 20;
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: index === 0 ? 'start' : `n${index}`,
    type: index === 0 ? 'start' : 'conversation',
    position: { x: (index % perRow) * 300, y: Math.floor(index / perRow) * 220 },
    data: { title: `Step ${index}`, prompt: `Ask {{ name }} for what step ${index} needs, and go on.` },
  }));
  const edge = (from: number, to: number) => ({
    id: `e${from}-${to}`,
    source: nodes[from]?.id ?? '',
    target: nodes[to]?.id ?? '',
    data: { condition: `Step ${from} leads to step ${to}` },
  });
  const edges = nodes.flatMap((_, index) =>
    [index + 1, index + perRow].filter((next) => next < count).map((next) => edge(index, next)),
  );
  return { nodes, edges };
}
