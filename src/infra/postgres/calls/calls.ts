import { CallwayError, invalid } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Call, CallChange } from '../../../calls/call.ts';
import type { CallStore } from '../../../calls/callStore.ts';
import type { PreparedSession } from '../../../engine/conversationEngine.ts';
import type { MediaSamples } from '../../../media/mediaSamples.ts';
import type { RecordingPeaks } from '../../../media/recording/peaks.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { violates } from '../connection/errors.ts';
import { CUSTOMER_NUMBER } from '../sessions/customers.ts';
import { listSaying } from '../sessions/messageSearch.ts';
import { INSERT_SESSION, sessionParameters } from '../sessions/sessions.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { BY_CREATION } from '../sql/projectRows.ts';
import { storableJson } from '../sql/storable.ts';
import { conditions } from './callConditions.ts';
import { callRecovery, FINAL_STATUS_LIST } from './callRecovery.ts';
import { callResults } from './callResults.ts';
import { callColumns, callParameters, callSelection, changeColumns, fromCallRow } from './callRows.ts';
import { IS_WAITING } from './waitingCalls.ts';

export function callStore(database: Queryable): CallStore {
  return {
    ...callRecords(database),
    ...callMedia(database),
    ...callResults(database),
    ...callRecovery(database),
  };
}

function callRecords(
  database: Queryable,
): Omit<
  CallStore,
  keyof (ReturnType<typeof callRecovery> & ReturnType<typeof callResults> & ReturnType<typeof callMedia>)
> {
  const one = (sql: string, parameters: readonly Parameter[]) => oneCall(database, sql, parameters);

  return {
    async insert(call, session, started) {
      const own = sessionParameters(session, started);
      const [inserted] = await orQueued(
        database.query(insertAfter(own.length), [...own, ...callParameters(call)]),
        call,
      );
      if (inserted) return;
      throw invalid('session_id_in_use', `The session id ${session.sessionId} is in use by a live session`);
    },
    async find(projectId, id) {
      if (!isUuid(id)) return undefined;
      return await one(`SELECT ${callSelection()} FROM calls WHERE project_id = $1 AND id = $2`, [
        projectId,
        id,
      ]);
    },
    async list(projectId, filter, page) {
      const found = await listSaying(database, projectId, filter.q, (limited, said) => {
        const { sql, parameters } = conditions(projectId, filter, said);
        const list: List = {
          name: 'calls',
          columns: callSelection(),
          from: 'calls',
          where: sql,
          parameters,
          order: BY_CREATION,
          direction: 'DESC',
        };
        return queryPage<object>(limited, list, page);
      });
      return mapPage(found, fromCallRow);
    },
    async existing(ids) {
      const rows = await database.query<{ id: string }>('SELECT id FROM calls WHERE id = ANY ($1::uuid[])', [
        ids,
      ]);
      return new Set(rows.map(({ id }) => id));
    },
    claim: (id, nodeId) =>
      one(`UPDATE calls SET node_id = $2 WHERE id = $1 AND ${IS_WAITING} RETURNING ${callSelection()}`, [
        id,
        nodeId,
      ]),
    queueScheduled: (call, at, session) =>
      orQueued(one(QUEUE_SCHEDULED, queueParameters(call, at, session)), call),
    async postpone(id, nodeId, notBefore) {
      await database.query(POSTPONE, [id, nodeId, notBefore]);
    },
    async replaceCallbacks(projectId, toNumber, at) {
      return (await database.query<object>(REPLACE_CALLBACKS, [projectId, toNumber, at])).map(fromCallRow);
    },
    async countCallbacks(projectId, toNumber, since) {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM calls WHERE project_id = $1 AND ${CUSTOMER_NUMBER} = $2
           AND direction = 'outbound' AND created_at >= $3 AND (settings->>'isCallback')::boolean`,
        [projectId, toNumber, since],
      );
      return row?.count ?? 0;
    },
    async releaseClaim(id, nodeId) {
      const [row] = await database.query<{ hangup_requested: boolean }>(
        `UPDATE calls SET node_id = NULL
         WHERE id = $1 AND node_id = $2 AND status = 'queued' RETURNING hangup_requested`,
        [id, nodeId],
      );
      return row?.hangup_requested ?? false;
    },
    async update(id, nodeId, change, event) {
      const { sql, parameters } = assignments(change, FIRST_CHANGE);
      const happened = [event?.type ?? null, event?.at ?? null, event ? storableJson(event.data) : null];
      return await one(updateTo(sql), [id, nodeId, ...happened, ...parameters]);
    },
    async setAnsweringMachine(id, answeringMachine) {
      await database.query('UPDATE calls SET answering_machine = $2 WHERE id = $1', [id, answeringMachine]);
    },
    async requestHangup(projectId, id, at) {
      return isUuid(id) ? await one(REQUEST_HANGUP, [projectId, id, at]) : undefined;
    },
    async turnLatencies(instanceIds) {
      const rows = await database.query<{ instance_id: string; p50: number; p95: number }>(LATENCIES, [
        instanceIds,
      ]);
      return new Map(
        rows.map(({ instance_id, p50, p95 }) => [
          instance_id,
          { p50: Math.round(p50), p95: Math.round(p95) },
        ]),
      );
    },
  };
}

async function oneCall(
  database: Queryable,
  sql: string,
  parameters: readonly Parameter[],
): Promise<Call | undefined> {
  const [row] = await database.query<object>(sql, parameters);
  return row && fromCallRow(row);
}

/** A call's recording and its waveform, and how its audio arrived. */
function callMedia(
  database: Queryable,
): Pick<CallStore, 'completeRecording' | 'mediaSamples' | 'peaks' | 'savePeaks'> {
  return {
    async completeRecording(id, recording) {
      const completed = await oneCall(
        database,
        `UPDATE calls SET recording = $2::json, recording_bytes = ($2::json->>'bytes')::bigint
         WHERE id = $1 AND coalesce(recording->>'status', 'recording') = 'recording'
         RETURNING ${callSelection()}`,
        [id, JSON.stringify(recording)],
      );
      if (!completed && recording.key !== null)
        await database.query(REMOVE_OF_GONE_CALL, [id, recording.key]);
      return completed;
    },
    async mediaSamples(projectId, id) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<{ media_samples: MediaSamples | null }>(
        'SELECT media_samples FROM calls WHERE project_id = $1 AND id = $2',
        [projectId, id],
      );
      return row?.media_samples ?? undefined;
    },
    async peaks(projectId, id) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<{ recording_peaks: RecordingPeaks | null }>(
        'SELECT recording_peaks FROM calls WHERE project_id = $1 AND id = $2',
        [projectId, id],
      );
      return row?.recording_peaks ?? undefined;
    },
    async savePeaks(id, key, peaks) {
      await database.query(
        `UPDATE calls SET recording_peaks = $3::json WHERE id = $1 AND recording->>'key' = $2`,
        [id, key, JSON.stringify(peaks)],
      );
    },
  };
}

/** Inserts a call and its session; neither when the session id is in use. */
const insertAfter = (taken: number): string => {
  const values = callColumns.map(({ type }, index) => `$${taken + index + 1}::${type}`);
  const dueAt = values[callColumns.findIndex(({ name }) => name === 'notBefore')];
  return `
  WITH ${INSERT_SESSION}, call AS (
    INSERT INTO calls (${callColumns.map(({ column }) => column).join(', ')}, next_at)
    SELECT ${values.join(', ')}, ${dueAt} FROM session
    RETURNING id
  )
  SELECT id FROM call`;
};

/** $1 is the call, $2 its node, $3 to $5 the event. */
const FIRST_CHANGE = 6;

const updateTo = (set: string): string => `
  WITH changed AS (
    UPDATE calls SET ${set}
    WHERE id = $1 AND status NOT IN (${FINAL_STATUS_LIST}) AND ($2::text IS NULL OR node_id = $2) RETURNING *
  ), happened AS (
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, $3::text, $4::timestamptz, $5::json FROM changed WHERE $3::text IS NOT NULL
  )
  SELECT ${callSelection()} FROM changed`;

const queueParameters = (
  { id, release, disclosures }: Call,
  at: string,
  prepared: PreparedSession | undefined,
): Parameter[] => [
  id,
  at,
  release,
  storableJson(disclosures),
  prepared?.session.releaseId ?? null,
  prepared?.session.pathwayId ?? null,
  prepared?.session.idleMinutes ?? null,
  storableJson(prepared?.started.data ?? null),
];

const QUEUE_SCHEDULED = `
  WITH queued AS (
    UPDATE calls SET status = 'queued', release = $3, disclosures = $4::json
    WHERE id = $1 AND status = 'scheduled' RETURNING *
  ), renewed AS (
    UPDATE sessions SET release = $3, release_id = $5, pathway_id = $6, idle_minutes = $7
    FROM queued WHERE sessions.instance_id = queued.instance_id AND turn = 0 AND $5::text IS NOT NULL
    RETURNING sessions.instance_id
  ), history AS (
    UPDATE session_history SET release = $3 FROM renewed WHERE session_history.instance_id = renewed.instance_id
  ), started AS (
    UPDATE session_events SET data = $8::json FROM renewed
    WHERE session_events.instance_id = renewed.instance_id AND type = 'session_started'
  ), happened AS (
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, 'call_status', $2::timestamptz, '{"status":"queued"}'::json FROM queued
  )
  SELECT ${callSelection()} FROM queued`;

const POSTPONE = `
  UPDATE calls SET status = 'scheduled', not_before = $3, next_at = $3, claim_id = NULL, node_id = NULL
  WHERE id = $1 AND status IN ('scheduled', 'queued') AND node_id IS NOT DISTINCT FROM $2`;

const REPLACE_CALLBACKS = `
  WITH replaced AS (
    UPDATE calls SET status = 'canceled', end_reason = 'rescheduled', ended_at = greatest($3::timestamptz, created_at)
    WHERE project_id = $1 AND to_number = $2 AND status = 'scheduled' AND (settings->>'isCallback')::boolean
    RETURNING *
  ), happened AS (
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, 'call_status', $3::timestamptz,
      '{"status":"canceled","endReason":"rescheduled"}'::json
    FROM replaced
  )
  SELECT ${callSelection()} FROM replaced`;

/** A call without a node is canceled at once; otherwise its node hangs up. */
const REQUEST_HANGUP = `
  WITH changed AS (
    UPDATE calls SET hangup_requested = true,
      status = CASE WHEN node_id IS NULL THEN 'canceled' ELSE status END,
      end_reason = CASE WHEN node_id IS NULL THEN 'api_hangup' ELSE end_reason END,
      ended_at = CASE WHEN node_id IS NULL THEN greatest($3::timestamptz, created_at) ELSE ended_at END
    WHERE project_id = $1 AND id = $2 AND status NOT IN (${FINAL_STATUS_LIST}) RETURNING *
  ), happened AS (
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, 'call_status', $3::timestamptz,
      json_build_object('status', status, 'endReason', end_reason)
    FROM changed WHERE status = 'canceled'
  )
  SELECT ${callSelection()} FROM changed`;

/** A statement of its own, which sees that the call was removed while the recording was being stored. */
const REMOVE_OF_GONE_CALL = `
  INSERT INTO recording_removals (key) SELECT $2::text WHERE NOT EXISTS (SELECT FROM calls WHERE id = $1)
  ON CONFLICT (key) DO NOTHING`;

const LATENCIES = `
  SELECT instance_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95
  FROM session_messages WHERE instance_id = ANY ($1::uuid[]) AND latency_ms IS NOT NULL GROUP BY instance_id`;

/** The SET clause of a change; a no-op for an empty change. */
function assignments(change: CallChange, first: number): { sql: string; parameters: Parameter[] } {
  const changed = changeColumns.filter(({ name }) => name in change);
  if (changed.length === 0) return { sql: 'id = id', parameters: [] };
  const assign = ({ column, type }: (typeof changed)[number], index: number) => {
    const value = `$${first + index}::${type}`;
    return `${column} = ${column === 'ended_at' ? notBefore(value) : value}`;
  };
  return {
    sql: changed.map(assign).join(', '),
    parameters: changed.map(({ toParameter }) => toParameter(change)),
  };
}

/** The caller may not have read the answer time, and the clocks of nodes differ. */
function notBefore(endedAt: string): string {
  return `greatest(${endedAt}, created_at, started_at, answered_at)`;
}

async function orQueued<Result>(write: Promise<Result>, { toNumber }: Call): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (!violates(error, 'calls_one_live_outbound')) throw error;
    throw new CallwayError(
      'conflict',
      'number_already_queued',
      `A call to ${toNumber} is queued or live already`,
    );
  }
}
