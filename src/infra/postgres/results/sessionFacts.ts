import type { ReviewReason, ReviewRule } from '../../../agents/accounts/reviewRules.ts';
import type { ReviewFacts } from '../../../results/reviews/reviewReasons.ts';
import type { Queryable } from '../connection/database.ts';
import { currencyFrom } from './rates.ts';
import { DIMENSION_COLUMNS, SESSIONS } from './sessionConditions.ts';

export interface StoredFacts extends ReviewFacts {
  readonly projectId: string;
  readonly instanceId: string;
  /** The rules of the project at the session's end; null for none. */
  readonly reviewRules: readonly ReviewRule[] | null;
  /** Why it was queued for review before; null where it was not. */
  readonly reviewReasons: readonly ReviewReason[] | null;
}

interface Row extends Omit<StoredFacts, 'startedAt' | 'endedAt'> {
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** The result of a tool. What tells of a failed transfer has an outcome, and is none. */
const OF_TOOL = `type = 'tool_result' AND data->'outcome' IS NULL`;

const DIMENSIONS = Object.entries(DIMENSION_COLUMNS).map(([name, column]) => `'${name}', (${column})::text`);

/** Everything that is counted of a session, from its rows. A figure of its own has its place here. */
const FACTS = `
  SELECT project_id AS "projectId", instance_id AS "instanceId", started_at AS "startedAt", ended_at AS "endedAt", turns,
    json_build_object(${DIMENSIONS.join(', ')}) AS dimensions,
    CASE WHEN call_ended_at IS NOT NULL THEN json_build_object(
      'answeredAtMs', floor(extract(epoch FROM answered_at) * 1000),
      'endedAtMs', floor(extract(epoch FROM call_ended_at) * 1000)) END AS call,
    coalesce(criteria, '[]') AS criteria, review->'criteria' AS reviewed, analysis->>'status' AS analysis,
    review_rules AS "reviewRules", review_reasons AS "reviewReasons", "notUnderstood", coalesce(silences, '[]') AS silences,
    coalesce(spoken, '[]') AS spoken, "transferAtMs", "toolCalls", "toolFailures", interruptions, transferred, "withError",
    (cost->>'total')::float8 AS cost, "rolloutId", "rolloutCurrency",
    coalesce(entries, '[]') AS entries, coalesce(latencies, '[]') AS latencies
  FROM ${SESSIONS}
  LEFT JOIN LATERAL (
    SELECT id AS "rolloutId", ${currencyFrom('rollouts.started_at')} AS "rolloutCurrency" FROM rollouts
    WHERE rollouts.project_id = history.project_id AND history.release IN (rollouts.release, previous_release)
      AND rollouts.started_at <= history.started_at AND history.started_at < coalesce(rollouts.ended_at, 'infinity')
    LIMIT 1
  ) AS rollout ON true
  CROSS JOIN LATERAL (
    SELECT json_agg(json_build_object('name', criterion->'name', 'passed', criterion->'passed')) AS criteria
    FROM json_array_elements(
      CASE json_typeof(evaluation->'criteria') WHEN 'array' THEN evaluation->'criteria' END) AS criterion
    WHERE json_typeof(criterion->'passed') = 'boolean'
  ) AS evaluated
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE ${OF_TOOL})::integer AS "toolCalls",
      count(*) FILTER (WHERE ${OF_TOOL} AND data->>'ok' = 'false')::integer AS "toolFailures",
      count(*) FILTER (WHERE type = 'barge_in')::integer AS interruptions,
      count(*) FILTER (WHERE type = 'transfer' AND data->>'status' = 'joined') > 0 AS transferred,
      count(*) FILTER (WHERE type = 'error') > 0 AS "withError",
      count(*) FILTER (WHERE type = 'not_understood')::integer AS "notUnderstood",
      json_agg(data->'durationMs') FILTER (WHERE type = 'silence' AND data->>'durationMs' IS NOT NULL) AS silences,
      floor(extract(epoch FROM min(at) FILTER (WHERE type = 'transfer')) * 1000)::float8 AS "transferAtMs",
      json_agg(json_build_object('nodeId', data->>'nodeId', 'title', data->>'title', 'edgeId', data->>'edgeId',
        'atMs', floor(extract(epoch FROM at) * 1000)) ORDER BY at, id)
        FILTER (WHERE type = 'node_entered' AND data->>'nodeId' IS NOT NULL) AS entries
    FROM session_events WHERE session_events.instance_id = history.instance_id
  ) AS happened
  CROSS JOIN LATERAL (
    SELECT json_agg(json_build_object('ms', latency_ms, 'parts', message->'latencyParts',
      'details', message->'latencyDetails')) AS latencies
    FROM session_messages WHERE session_messages.instance_id = history.instance_id AND latency_ms IS NOT NULL
  ) AS measured
  CROSS JOIN LATERAL (
    SELECT json_agg(message->'spoken') AS spoken FROM session_messages
    WHERE session_messages.instance_id = history.instance_id AND message->>'spoken' IS NOT NULL
  ) AS said
  WHERE instance_id = ANY ($1::uuid[])`;

export async function readFacts(
  database: Queryable,
  instanceIds: readonly string[],
): Promise<readonly StoredFacts[]> {
  const rows = await database.query<Row>(FACTS, [instanceIds]);
  return rows.map(({ startedAt, endedAt, ...facts }) => ({
    ...facts,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
  }));
}
