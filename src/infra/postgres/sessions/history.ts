import type { SessionCost } from '../../../agents/cost/rates.ts';
import { type Amounts, toSessionUsage } from '../../../agents/cost/usage.ts';
import { mapPage } from '../../../base/values/page.ts';
import { toReleaseName } from '../../../base/values/releaseName.ts';
import type {
  HeardSpeech,
  HistoryDetail,
  HistoryFilter,
  HistoryStats,
  HistoryStore,
  HistorySummary,
} from '../../../engine/history/historyStore.ts';
import type { Review } from '../../../engine/history/review.ts';
import type { Analysis, Evaluation } from '../../../engine/history/sessionResults.ts';
import type {
  Channel,
  HistoryEvent,
  HistoryEventType,
  SessionMessage,
} from '../../../engine/session/session.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { SESSIONS, sessionConditions } from '../results/sessionConditions.ts';
import { priceSession, USAGE } from '../results/sessionCosts.ts';
import { Given } from '../sql/given.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf, isoTime } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';
import { addSizes, charactersOf, HISTORY_WITH_ROOM, insertMessages, messageText } from './historyRows.ts';
import { listSaying, type Said } from './messageSearch.ts';

/** What a session's row has in a list. */
interface Listed {
  readonly instanceId: string;
  readonly sessionId: string;
  readonly channel: Channel;
  readonly callId: string | null;
  readonly release: number | null;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly messageCount: number;
  readonly disposition: string | null;
  readonly success: boolean | null;
  readonly isTest: boolean;
  readonly cost: SessionCost | null;
}

interface StatsRow {
  total: number;
  by_channel: Record<string, number> | null;
  by_status: Record<string, number> | null;
  by_day: { day: string; sessions: number }[] | null;
  mean: number | null;
  p95: number | null;
  turns: number;
  latency_p50: number | null;
  latency_p95: number | null;
  calls: number;
  answered: number;
  call_latency_p50: number | null;
  call_latency_p95: number | null;
}

export const HISTORY_COLUMNS = `instance_id, session_id, channel, call_id, release, status, started_at, ended_at, message_count, disposition,
  success, is_test, cost`;
/** Projects without retention show nothing, even while rows wait for their webhooks. */
export const SHOWN = `project_id = $1 AND (is_test OR (SELECT history_retention_days IS DISTINCT FROM 0 FROM projects WHERE id = $1))`;

export const NEWEST_FIRST = {
  order: [
    { column: 'started_at', type: 'time' },
    { column: 'instance_id', type: 'uuid' },
  ],
  direction: 'DESC',
} as const satisfies Partial<List>;

export function historyStore(database: Queryable): HistoryStore {
  return {
    async list(projectId, filter, page) {
      const found = await listSaying(database, projectId, filter.q, (limited, said) => {
        const { sql, parameters } = conditions(projectId, filter, said);
        const list: List = {
          name: 'session_history',
          columns: HISTORY_COLUMNS,
          from: SESSIONS,
          where: sql,
          parameters,
          ...NEWEST_FIRST,
        };
        return queryPage<object>(limited, list, page);
      });
      return mapPage(found, toSummary);
    },
    async find(projectId, sessionId) {
      const [row] = await database.query<object>(FIND, [projectId, sessionId]);
      return row && toDetail(row);
    },
    async findInstance(projectId, instanceId) {
      const [row] = await database.query<object>(FIND_INSTANCE, [projectId, instanceId]);
      return row && toDetail(row);
    },
    async awaitsAnalysis({ projectId, sessionId, instanceId }) {
      const found = await database.query(AWAITS_ANALYSIS, [projectId, sessionId, instanceId]);
      return found.length > 0;
    },
    async analyses(projectId, callIds) {
      const rows = await database.query<{ id: string; analysis: Analysis }>(ANALYSES, [projectId, callIds]);
      return new Map(rows.map(({ id, analysis }) => [id, analysis]));
    },
    async stats(projectId, range) {
      const { sql, parameters } = conditions(projectId, range, undefined);
      const [row] = await database.query<StatsRow>(statsOver(sql), parameters);
      return toStats(row);
    },
    async addEvents(instanceId, events) {
      // Adds nothing to a history that was purged meanwhile.
      await database.query(
        `WITH ended AS (
           UPDATE session_history SET to_count = true WHERE instance_id = $1 AND status = 'ended' AND NOT is_test
         )
         INSERT INTO session_events (instance_id, type, at, data)
         SELECT instance_id, type, at, data::json
         FROM session_history, unnest($2::text[], $3::timestamptz[], $4::text[]) WITH ORDINALITY
           AS happened (type, at, data, position)
         WHERE instance_id = $1 ORDER BY position`,
        [
          instanceId,
          events.map(({ type }) => type),
          events.map(({ at }) => at),
          events.map(({ data }) => storableJson(data)),
        ],
      );
    },
    async addMessages(instanceId, messages) {
      const json = messages.map(storableJson);
      await database.query(
        `WITH history AS (
           UPDATE session_history SET message_count = message_count + cardinality($2::text[]), ${addSizes('$5', '0')}
           WHERE instance_id = $1 RETURNING instance_id, project_id, message_characters
         )${insertMessages(HISTORY_WITH_ROOM.messages, ['$2', '$3', '$4'])}`,
        [instanceId, json, messages.map(messageText), messages.map(() => null), charactersOf(json)],
      );
    },
    async addHeard(instanceId, heard) {
      await database.query(
        'UPDATE session_history SET heard = sum_of_amounts(heard, $2) WHERE instance_id = $1',
        [instanceId, storableJson(heard)],
      );
    },
    async spendings(instanceIds) {
      const rows = await database.query<{
        instance_id: string;
        usage: Amounts | null;
        cost: SessionCost | null;
      }>(
        `SELECT instance_id, ${USAGE} AS usage, cost FROM session_history AS history
         WHERE instance_id = ANY ($1::uuid[])`,
        [instanceIds],
      );
      return new Map(
        rows.map(({ instance_id, usage, cost }) => [
          instance_id,
          { usage: toSessionUsage(usage ?? {}), cost },
        ]),
      );
    },
    updateCost: (instanceId) => priceSession(database, instanceId),
    async addUsage(instanceId, used) {
      await database.query(
        'UPDATE session_history SET usage = sum_of_amounts(usage, $2) WHERE instance_id = $1',
        [instanceId, storableJson(used)],
      );
      await priceSession(database, instanceId);
    },
  };
}

interface Stored extends Listed {
  readonly endReason: string | null;
  readonly variables: unknown;
  readonly evaluation: Evaluation | null;
  readonly analysis: Analysis | null;
  readonly review: Review | null;
  readonly heard: HeardSpeech | null;
  readonly usage: Amounts | null;
  readonly messages: SessionMessage[];
  readonly events: { type: HistoryEventType; at: string; data: HistoryEvent['data'] }[];
}

const detailWhere = (condition: string): string => `
  SELECT ${HISTORY_COLUMNS}, end_reason, evaluation, analysis, review, heard, ${USAGE} AS usage,
    coalesce(variables, (SELECT state->'variables' FROM sessions WHERE instance_id = history.instance_id))
      AS variables,
    (SELECT coalesce(json_agg(message ORDER BY id), '[]'::json) FROM session_messages
     WHERE instance_id = history.instance_id AND text IS NOT NULL) AS messages,
    (SELECT coalesce(json_agg(json_build_object('type', type, 'at', at, 'data', data) ORDER BY at, id), '[]'::json)
     FROM session_events WHERE instance_id = history.instance_id) AS events
  FROM session_history AS history
  WHERE ${SHOWN} AND ${condition} ORDER BY started_at DESC, instance_id DESC LIMIT 1`;
const FIND = detailWhere('session_id = $2');
const FIND_INSTANCE = detailWhere('instance_id = $2::uuid');

const AWAITS_ANALYSIS = `
  SELECT FROM session_history WHERE instance_id = $3 AND analysis IS NULL AND (
    EXISTS (SELECT FROM webhook_outbox WHERE instance_id = $3 AND skipped_analysis IS NOT NULL)
    OR EXISTS (
      SELECT FROM sessions JOIN agent_releases AS kept ON kept.project_id = sessions.project_id AND kept.id = release_id
      WHERE sessions.project_id = $1 AND session_id = $2 AND json_typeof(kept.release->'agent'->'analysis') = 'object'
    )
  )`;

const ANALYSES = `
  SELECT calls.id, analysis FROM calls JOIN session_history AS history USING (instance_id)
  WHERE history.project_id = $1 AND calls.id = ANY ($2::uuid[]) AND analysis IS NOT NULL
    AND (SELECT history_retention_days IS DISTINCT FROM 0 FROM projects WHERE id = $1)`;

function conditions(
  projectId: string,
  { status, from, to, q: _q, includeTests = false, ...filter }: HistoryFilter,
  said: Said | undefined,
): { sql: string; parameters: readonly Parameter[] } {
  const given = new Given(projectId);
  const parts = [
    SHOWN,
    ...(includeTests ? [] : ['NOT is_test']),
    ...sessionConditions(given, filter),
    ...given.when(status, (place) => `status = ${place}`),
    ...given.when(from, (place) => `started_at >= ${place}::timestamptz`),
    ...given.when(to, (place) => `started_at < ${place}::timestamptz`),
    ...(said ? given.when(said.patterns, (place) => `instance_id IN (${said.query(place)})`) : []),
  ];
  return { sql: parts.join(' AND '), parameters: given.parameters };
}

/** Computes all figures from one scan of the sessions and one of their messages. */
const statsOver = (where: string): string => `
  WITH chosen AS MATERIALIZED (
    SELECT instance_id, channel, status, turns, started_at,
      to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
      extract(epoch FROM ended_at - started_at)::double precision * 1000 AS duration_ms
    FROM session_history WHERE ${where}
  ), latencies AS (
    SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms) AS percentiles,
      percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms) FILTER (WHERE channel = 'phone')
        AS of_calls
    FROM chosen JOIN session_messages USING (instance_id) WHERE latency_ms IS NOT NULL
  ), outcomes AS (
    SELECT count(*)::integer AS calls, count(answered_at)::integer AS answered
    FROM chosen JOIN calls USING (instance_id) WHERE calls.ended_at IS NOT NULL
  )
  SELECT count(*)::integer AS total, coalesce(sum(turns), 0)::integer AS turns,
    avg(duration_ms) AS mean, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95,
    (SELECT json_object_agg(channel, sessions) FROM
      (SELECT channel, count(*)::integer AS sessions FROM chosen GROUP BY channel) AS counts) AS by_channel,
    (SELECT json_object_agg(status, sessions) FROM
      (SELECT status, count(*)::integer AS sessions FROM chosen GROUP BY status) AS counts) AS by_status,
    (SELECT json_agg(json_build_object('day', day, 'sessions', sessions) ORDER BY day) FROM
      (SELECT day, count(*)::integer AS sessions FROM chosen GROUP BY day) AS counts) AS by_day,
    (SELECT percentiles[1] FROM latencies) AS latency_p50,
    (SELECT percentiles[2] FROM latencies) AS latency_p95,
    (SELECT calls FROM outcomes) AS calls, (SELECT answered FROM outcomes) AS answered,
    (SELECT of_calls[1] FROM latencies) AS call_latency_p50,
    (SELECT of_calls[2] FROM latencies) AS call_latency_p95
  FROM chosen`;

export function toSummary(row: object): HistorySummary {
  const listed = fieldsOf<Listed>(row);
  const { startedAt, endedAt, messageCount } = listed;
  const durationMs = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  return { ...toCommon(listed), durationMs, messageCount };
}

function toDetail(row: object): HistoryDetail {
  const stored = fieldsOf<Stored>(row);
  const { variables, messages, events, status, evaluation, analysis, usage } = stored;
  return {
    ...toCommon(stored),
    variables: variables ?? {},
    messages,
    events: events.map(({ type, at, data }) => ({
      type,
      at: isoTime(at),
      data: withHeard(type, data, stored),
    })),
    missingVariables: status === 'ended' ? missingIn(events) : undefined,
    evaluation: evaluation ?? undefined,
    analysis: analysis ?? undefined,
    review: stored.review ?? undefined,
    usage: toSessionUsage(usage ?? {}),
  };
}

/**
 * Adds what a session has heard. It is known once the voice session has ended, which may be after the session's own
 * end.
 */
function withHeard(type: HistoryEventType, data: HistoryEvent['data'], { heard }: Stored) {
  return type === 'session_ended' && heard !== null ? { ...data, heard } : data;
}

/** The event of the session's end names the required variables without a value. */
function missingIn(events: Stored['events']): readonly string[] {
  const { missingVariables } = events.findLast(({ type }) => type === 'session_ended')?.data ?? {};
  return Array.isArray(missingVariables) ? missingVariables : [];
}

function toCommon(listed: Listed) {
  const { sessionId, channel, status, release, startedAt, endedAt, isTest, callId } = listed;
  const { cost, disposition, success } = listed;
  const test = isTest ? (true as const) : undefined;
  const ran = { release: toReleaseName(release), status, startedAt, endedAt };
  return { sessionId, channel, ...ran, test, callId: callId ?? undefined, cost, disposition, success };
}

function toStats(row: StatsRow | undefined): HistoryStats {
  return {
    total: row?.total ?? 0,
    byChannel: row?.by_channel ?? {},
    byStatus: row?.by_status ?? {},
    byDay: row?.by_day ?? [],
    durationMs: { mean: whole(row?.mean), p95: whole(row?.p95) },
    turns: row?.turns ?? 0,
    turnLatencyMs: { p50: whole(row?.latency_p50), p95: whole(row?.latency_p95) },
    calls: toCallStats(row),
  };
}

function toCallStats(row: StatsRow | undefined): HistoryStats['calls'] {
  const { calls: total = 0, answered = 0 } = row ?? {};
  return {
    total,
    answered,
    answerRate: total === 0 ? null : answered / total,
    turnLatencyMs: { p50: whole(row?.call_latency_p50), p95: whole(row?.call_latency_p95) },
  };
}

function whole(value: number | null | undefined): number | null {
  return value == null ? null : Math.round(value);
}
