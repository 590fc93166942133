import { DAY_MS, HOUR_MS } from '../../../base/values/clock.ts';
import type { SessionFilter } from '../../../engine/history/sessionFilter.ts';
import { LATENCY_BUCKETS, percentile } from '../../../results/insights/histogram.ts';
import type { FunnelQuery } from '../../../results/insights/insightStore.ts';
import {
  type Figure,
  type FigureQuery,
  type FunnelNode,
  type InsightQuery,
  type InsightStore,
  type JudgementPoint,
  type LatencyPoint,
  MAX_SERIES,
  type SumPoint,
} from '../../../results/insights/insightStore.ts';
import { SUM_METRICS, type SumMetric } from '../../../results/insights/metrics.ts';
import { columnOf } from '../../../results/insights/rollups.ts';
import { type Dimension, isOutcome } from '../../../results/insights/sessionFacts.ts';
import type { ArmRow } from '../../../results/rollouts/armSums.ts';
import type { Database, Parameter, Queryable } from '../connection/database.ts';
import { Given } from '../sql/given.ts';
import { fieldsOf } from '../sql/rows.ts';
import { ratesAt } from './rates.ts';

/** The most nodes of a funnel; it has those that most sessions entered. */
const MAX_NODES = 1_000;

/** Starts transactions of its own. */
export function insightStore(database: Database): InsightStore {
  const query = <Row>(sql: string, parameters: readonly Parameter[]) =>
    database.transaction(async (transaction) => {
      await transaction.query(PLAN);
      return await transaction.query<Row>(sql, parameters);
    });
  return {
    async sums(projectId, metric, asked) {
      const { amount, n } = SUM_METRICS[metric];
      const given = new Given(projectId);
      const sql = pointsOf(given, asked, {
        table: 'insight_sessions',
        where: 'true',
        by: metric === 'cost' ? ', currency' : '',
        sums: { amount: columnOf(amount), n: columnOf(n) },
        size: 'sum(sessions)',
      });
      return (await query<object>(sql, given.parameters)).map(fieldsOf<SumPoint>);
    },
    async latencies(projectId, parts, asked) {
      const { groupBy, filter } = asked;
      const byOutcome = [groupBy, ...Object.keys(filter)].some(
        (name) => name && isOutcome(name as Dimension),
      );
      const given = new Given(projectId);
      const rowsOf = byOutcome
        ? { table: 'insight_outcome_latencies', where: 'true', by: '' }
        : { table: 'insight_latencies', where: `part = ANY (${given.add(parts)}::text[])`, by: ', part' };
      const sums = { turns: 'turns', buckets: 'buckets' };
      const sql = pointsOf(given, asked, { ...rowsOf, sums, size: 'sum(turns)' });
      const rows = await query<object>(sql, given.parameters);
      return rows.map((row) => {
        const { buckets, ...point } = fieldsOf<LatencyPoint & { readonly buckets: string }>(row);
        return { ...point, part: byOutcome ? 'total' : point.part, buckets: JSON.parse(buckets) };
      });
    },
    async judgements(projectId, asked) {
      const given = new Given(projectId);
      const sql = pointsOf(
        given,
        { ...asked, groupBy: undefined },
        {
          table: 'insight_judgements',
          where: 'true',
          by: ', criterion',
          sums: { judged: 'judged', agreed: 'agreed', judge_met: 'judge_met', person_met: 'person_met' },
          size: 'sum(judged)',
        },
      );
      const rows = await query<object>(sql, given.parameters);
      return rows.map((row) => {
        const { criterion, ...point } = fieldsOf<JudgementPoint & { readonly criterion: string }>(row);
        return { ...point, key: criterion };
      });
    },
    async funnel(projectId, asked) {
      const { sql, parameters } = funnelOf(projectId, asked);
      const rows = await query<Omit<FunnelNode, 'buckets'> & { readonly buckets: string }>(sql, parameters);
      return rows.map((row) => ({ ...row, buckets: JSON.parse(row.buckets) }));
    },
    arms: (rolloutId) =>
      database.query<ArmRow>(
        'SELECT release, metric, bucket, sessions, x, w, xx, xw, ww FROM insight_arms WHERE rollout_id = $1',
        [rolloutId],
      ),
    async figure(projectId, asked) {
      const given = new Given(projectId);
      return asked.metric === 'latencyP95'
        ? await latencyFigure(database, given, asked)
        : await sumFigure(database, given, asked, SUM_METRICS[asked.metric]);
    },
  };
}

interface Summed {
  readonly table: string;
  readonly where: string;
  /** A further column of a point, with a comma before it: one of the table, or the currency. */
  readonly by: string;
  /** The columns that are added up, by the names of the results. */
  readonly sums: Readonly<Record<string, string>>;
  /** The expression by which the largest groups are chosen. */
  readonly size: string;
}

/**
 * A question reads many rows and makes few. The planner expects as many groups as rows, and one combination that passes a
 * filter: groups and combinations are hashed nevertheless. The combinations are no CTE, of whose ids it knows nothing.
 */
const PLAN = `
  SELECT set_config('jit', 'off', true), set_config('enable_sort', 'off', true),
    set_config('enable_nestloop', 'off', true), set_config('work_mem', '32MB', true)`;

/**
 * Adds up first by time and group, as the rows have them, and then by interval. The groups beyond the largest ones are
 * one, so that a result is bounded whatever its dimension holds.
 */
function pointsOf(given: Given, query: InsightQuery, { table, where, by, sums, size }: Summed): string {
  const { interval, groupBy, filter } = query;
  const isOfAll = groupBy === undefined && Object.keys(filter).length === 0;
  const chosen =
    isOfAll && by !== ', currency'
      ? ''
      : `JOIN (
        SELECT id, ${groupBy === undefined ? "''" : `coalesce(value->>'${groupBy}', '')`} AS key,
          value->>'currency' AS currency
        FROM insight_dimensions
        WHERE project_id = $1 AND ${filtered(given, 'value', filter)} OFFSET 0
      ) AS chosen ON chosen.id = dimensions`;
  const inner = Object.entries(sums).map(([name, column]) => `sum(${column}) AS ${name}`);
  const outer = Object.keys(sums).map((name) =>
    name === 'buckets' ? 'sum(buckets)::text AS buckets' : `sum(${name})::float8 AS ${name}`,
  );
  return `
    WITH summed AS MATERIALIZED (
      SELECT at, ${chosen === '' ? "'' AS key" : 'key'}${by}, ${size} AS size, ${inner.join(', ')}
      FROM ${table} ${chosen}
      WHERE project_id = $1 AND ${where} AND (${spans(given, query)})
      GROUP BY at, key${by}
    ), placed AS (
      SELECT key, row_number() OVER (ORDER BY sum(size) DESC, key) > ${MAX_SERIES} AS is_rest
      FROM summed GROUP BY key
    ), named AS (
      SELECT summed.*, CASE WHEN NOT is_rest THEN nullif(key, '') END AS name, is_rest
      FROM summed JOIN placed USING (key) WHERE size <> 0
    )
    SELECT date_trunc('${interval}', at, 'UTC') AS at, name AS key, is_rest${by}, ${outer.join(', ')}
    FROM named GROUP BY 1, 2, 3${by} ORDER BY 1`;
}

function filtered(given: Given, dimensions: string, filter: SessionFilter): string {
  const parts = Object.entries(filter).map(
    ([name, value]) => `${dimensions}->>'${name}' ${value === '' ? 'IS NULL' : `= ${given.add(value)}`}`,
  );
  return ['true', ...parts].join(' AND ');
}

/** Returns the rows that cover the time: days as far as the interval allows, and hours before and after them. */
function spans(given: Given, { from, to, interval }: InsightQuery): string {
  const begin = floor(from, HOUR_MS);
  const end = ceil(to, HOUR_MS);
  const [firstDay, lastDay] = [ceil(begin, DAY_MS), floor(end, DAY_MS)];
  const within = (span: 'hour' | 'day', since: string, until: string) =>
    `span = '${span}' AND at >= ${given.add(since)}::timestamptz AND at < ${given.add(until)}::timestamptz`;
  if (interval === 'hour' || firstDay >= lastDay) return within('hour', begin, end);
  return [
    within('day', firstDay, lastDay),
    within('hour', begin, firstDay),
    within('hour', lastDay, end),
  ].join(' OR ');
}

const floor = (time: string, ms: number) => new Date(Math.floor(Date.parse(time) / ms) * ms).toISOString();
const ceil = (time: string, ms: number) => new Date(Math.ceil(Date.parse(time) / ms) * ms).toISOString();

function funnelOf(projectId: string, { from, to, filter }: FunnelQuery) {
  const given = new Given(projectId);
  const since = given.add(floor(from, DAY_MS));
  const until = given.add(ceil(to, DAY_MS));
  const sql = `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM insight_dimensions WHERE project_id = $1 AND ${filtered(given, 'value', filter)}
    ), nodes AS (
      SELECT node_id, sum(entered)::float8 AS entered, sum(ended)::float8 AS ended, sum(buckets)::text AS buckets
      FROM insight_nodes JOIN chosen ON id = dimensions
      WHERE project_id = $1 AND at >= ${since}::timestamptz AND at < ${until}::timestamptz
      GROUP BY node_id HAVING sum(entered) > 0 ORDER BY 2 DESC, node_id LIMIT ${MAX_NODES}
    ), edges AS (
      SELECT node_id, json_agg(json_build_object('edgeId', edge_id, 'to', to_node_id, 'taken', taken)
        ORDER BY taken DESC, edge_id) AS edges
      FROM (
        SELECT node_id, edge_id, to_node_id, sum(taken) AS taken FROM insight_edges JOIN chosen ON id = dimensions
        WHERE project_id = $1 AND at >= ${since}::timestamptz AND at < ${until}::timestamptz
        GROUP BY node_id, edge_id, to_node_id HAVING sum(taken) > 0
      ) AS taken GROUP BY node_id
    )
    SELECT nodes.node_id AS "nodeId", title, entered, ended, buckets, coalesce(edges, '[]') AS edges
    FROM nodes LEFT JOIN edges USING (node_id)
    LEFT JOIN insight_titles AS titles ON titles.project_id = $1 AND titles.node_id = nodes.node_id
    ORDER BY entered DESC, nodes.node_id`;
  return { sql, parameters: given.parameters };
}

/** Selects the counted sessions of the window, deleted ones too; for a cost those in the currency of the rates at its end. */
function counted(given: Given, { metric, filter, from, to }: FigureQuery): string {
  const until = `${given.add(to)}::timestamptz`;
  const ended = `project_id = $1 AND ended_at >= ${given.add(from)}::timestamptz AND ended_at < ${until}`;
  const isComparable =
    metric === 'cost'
      ? `counted->'dimensions'->>'currency' =
          (SELECT ${ratesAt(until)}->>'currency' FROM (SELECT $1::uuid AS project_id) AS history)`
      : 'true';
  return `
    FROM (
      SELECT counted FROM session_history WHERE ${ended} AND status = 'ended' AND counted IS NOT NULL
      UNION ALL SELECT counted FROM insight_removed WHERE ${ended}
    ) AS sessions
    WHERE ${isComparable} AND ${filtered(given, "counted->'dimensions'", filter)}`;
}

async function sumFigure(
  database: Queryable,
  given: Given,
  query: FigureQuery,
  { kind, amount, n, unit = 1 }: SumMetric,
): Promise<Figure> {
  const sumOf = (name: string) => `(counted->'sums'->>'${name}')::float8`;
  const [row] = await database.query<{ amount: number; n: number }>(
    `SELECT coalesce(sum(${sumOf(amount)}), 0) AS amount, coalesce(sum(${sumOf(n)}), 0) AS n ${counted(given, query)}`,
    given.parameters,
  );
  const sums = row ?? { amount: 0, n: 0 };
  const total = kind === 'sum' ? sums.amount : sums.amount / sums.n;
  return { value: sums.n === 0 ? null : total / unit, n: sums.n };
}

async function latencyFigure(database: Queryable, given: Given, query: FigureQuery): Promise<Figure> {
  const rows = await database.query<{ bucket: number; turns: number }>(
    `SELECT key::integer AS bucket, sum(value::integer)::float8 AS turns
     FROM (SELECT counted->'latencies'->'total' AS total ${counted(given, query)}) AS measured,
       json_each_text(total) GROUP BY key`,
    given.parameters,
  );
  const buckets = Array.from({ length: LATENCY_BUCKETS.count }, () => 0);
  for (const { bucket, turns } of rows) buckets[bucket] = turns;
  return {
    value: percentile(buckets, 0.95, LATENCY_BUCKETS),
    n: rows.reduce((sum, { turns }) => sum + turns, 0),
  };
}
