import { z } from 'zod';

import { invalid } from '../../../base/errors.ts';
import { DAY_MS, HOUR_MS } from '../../../base/values/clock.ts';
import { sessionFilter, toSessionFilter } from '../../../engine/history/sessionFilter.ts';
import { MAX_SERIES } from '../../../results/insights/insightStore.ts';
import { SUM_METRICS } from '../../../results/insights/metrics.ts';
import {
  isGrouped,
  METRIC_NAMES,
  type MetricName,
  readFunnel,
  readInsights,
} from '../../../results/insights/readInsights.ts';
import { type Dimension, isOutcome, LATENCY_PARTS } from '../../../results/insights/sessionFacts.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, moment, projectParams, requireOrder } from '../../schemas.ts';

const PATH = '/v1/projects/:projectId/insights';
const READ = { access: { kind: 'project', scope: 'read' }, isSearch: true } as const;

const DEFAULT_DAYS = 30;
/** Points of one series. */
const MAX_POINTS = 2_000;

const GROUPS = {
  release: 'release',
  disposition: 'disposition',
  endReason: 'endReason',
  direction: 'direction',
  trunk: 'trunkId',
  campaign: 'campaignId',
  agent: 'agentId',
  language: 'language',
  node: 'node',
  provider: 'provider',
} as const satisfies Record<string, Dimension>;
type Group = keyof typeof GROUPS;

const range = {
  from: moment
    .optional()
    .describe(`Sessions that began at this time or later. Default: ${DEFAULT_DAYS} days ago.`),
  to: moment.optional().describe('Sessions that began before this time. Default: now.'),
};

const metricsText = Object.entries(SUM_METRICS)
  .map(([name, { description }]) => `\`${name}\` (${description})`)
  .join(', ');

const figure = {
  value: z
    .number()
    .nullable()
    .optional()
    .describe('In the metric’s unit; null where there is nothing to divide by, absent of `latency`.'),
  p50: z.number().nullable().optional().describe('Milliseconds; of `latency` alone.'),
  p95: z.number().nullable().optional(),
  n: z.int().describe('What the value was computed from: sessions, calls, turns, tool calls or verdicts.'),
  kappa: z
    .number()
    .nullable()
    .optional()
    .describe(
      'Of `judgeAgreement` alone: Cohen’s kappa, 1 for full agreement and 0 for that of chance; null where both always say the same one.',
    ),
};

const currency = z.string().optional().describe('Of `cost` alone: the currency of the amounts.');

const insights = z
  .object({
    series: z
      .array(
        z.object({
          key: z
            .string()
            .nullable()
            .describe(
              'The value that sessions are grouped by, or the part of a latency, or the criterion of an agreement; null for sessions without one, and without `groupBy`.',
            ),
          isOther: z
            .literal(true)
            .optional()
            .describe(
              `The sum of all series but the ${MAX_SERIES} with the most sessions; its key is \`other\`.`,
            ),
          currency: currency.describe(
            'Of `cost` alone: the currency of its amounts. Another currency, from before the rates were changed, has series of its own.',
          ),
          points: z.array(
            z.object({
              at: z.iso.datetime().describe('The beginning of the hour, day or week in UTC.'),
              ...figure,
            }),
          ),
        }),
      )
      .describe('The largest first. A time with nothing to count has no point.'),
    total: z
      .object({
        ...figure,
        currency,
        others: z
          .array(z.object({ ...figure, currency }))
          .optional()
          .describe(
            'Of `cost`: the sums in further currencies, where there are any. The total is in that of most sessions; amounts are never converted.',
          ),
      })
      .describe('The same metric over all sessions of the whole time.'),
  })
  .meta({ id: 'Insights' });

const funnel = z
  .object({
    nodes: z
      .array(
        z.object({
          nodeId: z.string(),
          title: z.string().nullable().describe('As the newest session that entered it had it.'),
          entered: z.int().describe('How often; a session that comes back counts again.'),
          ended: z.int().describe('Sessions that ended here.'),
          medianSeconds: z.number().nullable().describe('Half of the stays were shorter; within 10 %.'),
          edges: z
            .array(z.object({ edgeId: z.string(), to: z.string(), taken: z.int() }))
            .describe('Edges that were taken from here, global ones too, most first.'),
        }),
      )
      .describe('The node that was entered most comes first.'),
  })
  .meta({ id: 'Funnel' });

export function insightRoutes(app: App, deps: HttpDeps): void {
  insightsRoute(app, deps);
  funnelRoute(app, deps);
}

function insightsRoute(app: App, { clock, storage }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        ...about(
          'Insights',
          'Read a metric over time',
          `Counts ended sessions by when they began, at most 60 s late. Retention and erasure change nothing that was counted; sessions of tests are not. Whole hours count, those of \`from\` and \`to\` included. Metrics: ${metricsText}, \`endReasons\` and \`dispositions\` (sessions by \`endReason\` and by \`disposition\`), \`latency\` (p50 and p95 of the turns’ latency, within 5 %, by part without \`groupBy\`), \`latencyP95\`, \`judgeAgreement\` (the share of verdicts on criteria in which the judge and a person’s review agree, by criterion).`,
        ),
        params: projectParams,
        querystring: z.strictObject({
          metric: z.enum(METRIC_NAMES as [MetricName, ...MetricName[]]),
          groupBy: z
            .enum(Object.keys(GROUPS) as [Group, ...Group[]])
            .optional()
            .describe(
              'A series for each value. `node` is the node at which a session ended, `provider` its label.',
            ),
          part: z
            .enum(LATENCY_PARTS)
            .optional()
            .describe(
              'Of `latency` and `latencyP95`: the part of the latency. Parts are not counted by `disposition`, `success`, `endReason` and `node`.',
            ),
          interval: z.enum(['hour', 'day', 'week']).default('day').describe('In UTC; weeks begin on Monday.'),
          ...range,
          ...sessionFilter,
        }),
        response: { 200: insights, ...errors() },
      },
    },
    async ({ params, query }) => {
      const { metric, groupBy, part, interval, from, to, ...filter } = query;
      const span = spanOf(clock.now(), { from, to });
      requireFewPoints(span, interval);
      const dimension = groupBy && GROUPS[groupBy];
      requireMeaning({ metric, part, groupBy: dimension, filter });
      return await readInsights(storage.insights, params.projectId, {
        metric,
        part,
        groupBy: dimension,
        interval,
        ...span,
        filter: toSessionFilter(filter),
      });
    },
  );
}

function funnelRoute(app: App, { clock, storage }: HttpDeps): void {
  app.get(
    `${PATH}/funnel`,
    {
      config: READ,
      schema: {
        ...about(
          'Insights',
          'Read the way through the pathway',
          'How many sessions entered each node, ended there, stayed how long, and left by which edge, in whole UTC days: those of `from` and `to` are included.',
        ),
        params: projectParams,
        // The way is not counted by these two: each would multiply its rows.
        querystring: z.strictObject({ ...range, ...sessionFilter }).omit({ node: true, provider: true }),
        response: { 200: funnel, ...errors() },
      },
    },
    async ({ params, query: { from, to, ...filter } }) => {
      const span = spanOf(clock.now(), { from, to });
      return {
        nodes: await readFunnel(storage.insights, params.projectId, {
          ...span,
          filter: toSessionFilter(filter),
        }),
      };
    },
  );
}

function spanOf(nowMs: number, given: { from: string | undefined; to: string | undefined }) {
  const to = given.to ?? new Date(nowMs).toISOString();
  const from = given.from ?? new Date(Date.parse(to) - DEFAULT_DAYS * DAY_MS).toISOString();
  requireOrder({ from, to });
  return { from, to };
}

const INTERVAL_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS };

/** @throws {CallwayError} 400 for a longer time than a plot could show by such an interval. */
function requireFewPoints(
  { from, to }: { from: string; to: string },
  interval: keyof typeof INTERVAL_MS,
): void {
  const points = (Date.parse(to) - Date.parse(from)) / INTERVAL_MS[interval];
  if (points <= MAX_POINTS) return;
  const message = `interval ${interval} makes more than ${MAX_POINTS} points from ${from} to ${to}; choose a longer interval or a shorter time`;
  throw invalid('invalid_request', message, [{ path: '/interval', message }]);
}

interface Meaning {
  readonly metric: MetricName;
  readonly part: string | undefined;
  readonly groupBy: Dimension | undefined;
  readonly filter: Readonly<Record<string, unknown>>;
}

/** @throws {CallwayError} 400 for what cannot be combined. */
function requireMeaning({ metric, part, groupBy, filter }: Meaning): void {
  const refuse = (name: string, message: string) => {
    throw invalid('invalid_request', message, [{ path: `/${name}`, message }]);
  };
  if (metric === 'judgeAgreement' && groupBy !== undefined)
    refuse('groupBy', 'metric judgeAgreement has a series for each criterion already; leave out groupBy');
  if (isGrouped(metric) && groupBy !== undefined)
    refuse(
      'groupBy',
      `metric ${metric} has a series for each of them already; leave out groupBy, or take metric sessions`,
    );
  if (part === undefined || part === 'total') return;
  if (metric !== 'latency' && metric !== 'latencyP95')
    refuse('part', `metric ${metric} has no parts; leave out part`);
  const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const outcome = [groupBy, ...given].find((name) => name && isOutcome(name as Dimension));
  if (outcome)
    refuse('part', `The parts of a latency are not counted by ${outcome}; leave out part or ${outcome}`);
}
