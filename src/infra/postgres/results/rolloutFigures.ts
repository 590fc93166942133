import type { ArmSessions, ArmSums, RolloutFigures } from '../../../results/rollouts/arms.ts';
import type { Sums } from '../../../results/rollouts/sequentialTest.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** The sessions of an arm, with {@link parametersOf}. */
const CHOSEN = `
  chosen AS MATERIALIZED (
    SELECT instance_id, started_at, ended_at, evaluation, success, cost FROM session_history
    WHERE project_id = $1 AND release = $2 AND started_at >= $3 AND started_at < coalesce($4, 'infinity'::timestamptz)
      AND status = 'ended' AND NOT is_test
  )`;

const sumOf = (value: string) => `coalesce(sum(${value}), 0)::float8`;
const SUMS_OF = `count(*)::integer AS sessions, ${sumOf('x')} AS x, ${sumOf('w')} AS w, ${sumOf('x * x')} AS xx,
  ${sumOf('x * w')} AS xw, ${sumOf('w * w')} AS ww`;

/** Sums the numerator and the denominator that each session has of each metric. */
const SUMS = `
  WITH ${CHOSEN}, measured AS (
    SELECT metric, x::float8 AS x, w::float8 AS w FROM chosen
    LEFT JOIN calls ON calls.instance_id = chosen.instance_id AND calls.ended_at IS NOT NULL
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE type = 'tool_result') AS tools,
        count(*) FILTER (WHERE type = 'tool_result' AND data->>'ok' = 'false') AS tool_failures,
        count(*) FILTER (WHERE type = 'barge_in') AS interruptions,
        least(1, count(*) FILTER (WHERE type = 'transfer')) AS transfers,
        least(1, count(*) FILTER (WHERE type = 'error')) AS errors
      FROM session_events WHERE session_events.instance_id = chosen.instance_id
    ) AS events
    CROSS JOIN LATERAL (
      SELECT bool_and((criterion->>'passed')::boolean) AS passed
      FROM json_array_elements(evaluation->'criteria') AS criterion WHERE criterion->>'passed' IS NOT NULL
    ) AS evaluated
    CROSS JOIN LATERAL (VALUES
      ('success', success::integer, 1),
      ('evaluation', passed::integer, 1),
      ('answered', CASE WHEN calls.id IS NOT NULL THEN (calls.answered_at IS NOT NULL)::integer END, 1),
      ('duration', (extract(epoch FROM chosen.ended_at - chosen.started_at) * 1000)::float8, 1),
      ('toolFailures', tool_failures, tools),
      ('interruptions', interruptions, 1),
      ('transfers', transfers, 1),
      ('cost', (cost->>'total')::float8, 1),
      ('error', errors, 1)
    ) AS metrics (metric, x, w)
    WHERE x IS NOT NULL AND w > 0
  )
  SELECT metric, ${SUMS_OF} FROM measured GROUP BY metric
  UNION ALL SELECT NULL, count(*)::integer, 0, 0, 0, 0, 0 FROM chosen`;

const TURNS = `turns AS (
    SELECT instance_id, latency_ms FROM chosen JOIN session_messages USING (instance_id) WHERE latency_ms IS NOT NULL
  )`;

const LATENCY = `
  WITH ${CHOSEN}, ${TURNS}
  SELECT count(DISTINCT instance_id)::integer AS sessions,
    percentile_cont($5::float8[]) WITHIN GROUP (ORDER BY latency_ms) AS ms
  FROM turns`;

const SLOW_TURNS = `
  WITH ${CHOSEN}, ${TURNS}, measured AS (
    SELECT count(*) FILTER (WHERE latency_ms > $5::float8)::float8 AS x, count(*)::float8 AS w
    FROM turns GROUP BY instance_id
  )
  SELECT ${SUMS_OF} FROM measured`;

type Row<Fields> = Fields & { readonly sessions: number };

/** Reads the figures of rollouts from the rows of their sessions. */
export function rolloutFigures(database: Queryable): RolloutFigures {
  return {
    async sums(arm): Promise<ArmSums> {
      const rows = await database.query<Row<Sums> & { metric: string | null }>(SUMS, parametersOf(arm));
      const metrics = rows.flatMap(({ metric, ...sums }) =>
        metric === null ? [] : [[metric, sums] as const],
      );
      const all = rows.find(({ metric }) => metric === null);
      return { sessions: all?.sessions ?? 0, metrics: Object.fromEntries(metrics) };
    },
    async latency(arm, shares) {
      const [row] = await database.query<Row<{ ms: number[] | null }>>(LATENCY, [
        ...parametersOf(arm),
        [...shares],
      ]);
      return { sessions: row?.sessions ?? 0, ms: row?.ms ?? [] };
    },
    async slowTurns(arm, limitMs) {
      const [row] = await database.query<Sums>(SLOW_TURNS, [...parametersOf(arm), limitMs]);
      return row ?? { sessions: 0, x: 0, w: 0, xx: 0, xw: 0, ww: 0 };
    },
  };
}

function parametersOf({ projectId, release, from, to }: ArmSessions): Parameter[] {
  return [projectId, release, from, to];
}
